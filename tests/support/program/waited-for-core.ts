import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 10;

/**
 * For how long the machine let another process wait for a core, in milliseconds, from now until it ends. Zero where the
 * kernel does not tell (only Linux does).
 */
export function waitedForCore(pid: number, ended: Promise<unknown>): Promise<number> {
  const first = runQueueMs(pid) ?? 0;
  let last = first;
  const looking = setInterval(() => (last = runQueueMs(pid) ?? last), LOOK_EVERY_MS);
  return ended.then(() => {
    clearInterval(looking);
    return last - first;
  });
}

function runQueueMs(pid: number): number | undefined {
  try {
    const [, waitedNs] = readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ");
    return Number(waitedNs) / 1e6;
  } catch {
    return undefined;
  }
}
