import { announce, isObserved } from "./announce";
import type { Hold } from "./lend";
import type { Wait } from "../line/wait";

/** Tells the observers that the hold has begun, and what happens to it; returns what to call when it is over. */
export function announceHold(wait: Wait, hold: Hold): (() => void) | undefined {
  return isObserved(wait) ? observedHold(wait, hold) : undefined;
}

function observedHold(wait: Wait, hold: Hold): () => void {
  const { clock } = wait.settings;
  const sinceMs = clock.monotonicMs();
  const acquired = { fencingToken: hold.fencingToken, contended: wait.wasContended };
  announce(wait, { type: "acquired", ...acquired }, { elapsedMs: wait.elapsedMs });
  const elapsed = (): { elapsedMs: number } => ({ elapsedMs: clock.monotonicMs() - sinceMs });
  const stopListening = hold.observe((happening) => announce(wait, happening, elapsed()));
  return () => {
    stopListening();
    announce(wait, { type: "released" }, elapsed());
  };
}
