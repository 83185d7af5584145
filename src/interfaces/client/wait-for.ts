import { setTimeout as pause } from "node:timers/promises";

/** Timers hold no more: beyond it they are over at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Rejects when the signal says so. */
export async function waitFor(ms: number, signal: AbortSignal | undefined): Promise<void> {
  await pause(Math.min(LONGEST_TIMER_MS, ms), undefined, signal === undefined ? {} : { signal });
}
