import { setTimeout as pause } from "node:timers/promises";
import type { LockHold } from "../../../application/ports/lock-provider";
import { UsageError } from "../exit-status";

const UNIT_MS: Readonly<Record<string, number>> = { "": 1_000, s: 1_000, m: 60_000, h: 3_600_000 };
const LONGEST_MS = 7 * 24 * 3_600_000;

/** `90`, `90s`, `10m`, `2h`: how long others are kept out, from the moment at which the lock was acquired. */
export function parseAtLeastFor(text: string): number {
  const [, count = "", unit = ""] = /^(\d+)([smh]?)$/.exec(text) ?? [];
  const ms = Number(count) * (UNIT_MS[unit] ?? NaN);
  if (count === "" || ms > LONGEST_MS)
    throw new UsageError(
      `--at-least-for is "${text}": it takes seconds, or a number with s, m or h, up to 168h`,
    );
  return ms;
}

interface Rest {
  /** On the monotonic clock. */
  readonly untilMs: number;
  readonly hold: Pick<LockHold, "signal">;
  /** Called when there is something to wait for; its signal ends the wait, and its reason says what did. */
  readonly lingering: () => AbortSignal;
  readonly say: (line: string) => void;
}

/** For locks that end with this process: stays until the time is over, the lock is lost, or a signal says that it is enough. */
export async function stayForTheRest({ untilMs, hold, lingering, say }: Rest): Promise<void> {
  const restMs = untilMs - performance.now();
  if (restMs <= 0 || hold.signal.aborted) return;
  const enough = lingering();
  if (!enough.aborted) say(`keeping the lock for another ${inSeconds(restMs)} (--at-least-for)`);
  const signal = AbortSignal.any([enough, hold.signal]);
  await pause(restMs, undefined, { signal }).catch(() => {});
  if (enough.aborted)
    say(`${String(enough.reason)} gave the lock back ${inSeconds(untilMs - performance.now())} early`);
}

function inSeconds(ms: number): string {
  return `${Math.max(0, Math.ceil(ms / 1_000))} s`;
}
