import { announce, isObserved } from "./announce";
import type { Hold } from "./hold";
import { runInside } from "./reentrancy";
import type { Wait } from "./wait";

/**
 * Runs the section inside its hold. `giveBack` is called in the same run to completion in which the section's end is
 * noticed, and the section's own value or error stands: nothing is awaited after it.
 */
export async function lend<T>(
  wait: Wait,
  hold: Hold,
  criticalSection: (hold: Hold) => Promise<T>,
  giveBack: () => void,
): Promise<T> {
  const finished = isObserved(wait) ? announceHold(wait, hold) : undefined;
  try {
    return await runInside(hold, criticalSection);
  } finally {
    hold.end();
    giveBack();
    finished?.();
  }
}

function announceHold(wait: Wait, hold: Hold): () => void {
  const { clock } = wait.settings;
  const sinceMs = clock.monotonicMs();
  const acquired = { fencingToken: hold.fencingToken, contended: wait.wasContended };
  announce(wait, { type: "acquired", ...acquired }, { elapsedMs: sinceMs - wait.startedMs });
  const elapsed = (): { elapsedMs: number } => ({ elapsedMs: clock.monotonicMs() - sinceMs });
  const stopListening = hold.observe((happening) => announce(wait, happening, elapsed()));
  return () => {
    stopListening();
    announce(wait, { type: "released" }, elapsed());
  };
}
