import { setTimeout as pause } from "node:timers/promises";

/** Where a record was taken away, only the time keeps fencing tokens growing, and it grows by milliseconds. */
export async function nextMillisecond(): Promise<void> {
  const nowMs = Date.now();
  while (Date.now() <= nowMs) await pause(1);
}
