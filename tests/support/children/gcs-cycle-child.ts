import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { GcsLockProvider } from "../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import type { LeaseSettings } from "../../../src/infrastructure/locking/lease/protocol/lease-settings";
import { Stalls } from "../stalls";

// Lives a lock's life in each of the buckets that it is given, side by side: two that are inside one after the other, and one
// that gives up in between. Says what went wrong there, what is left of it all, and how long that kept the process alive.

export interface CycleWorld {
  readonly name: string;
  readonly url: string;
}

export type CycleReport =
  | { readonly world: string; readonly is: "over" }
  | { readonly world: string; readonly flaw: string }
  | { readonly left: readonly string[] }
  | { readonly lingeredMs: number };

const LEASE: Partial<LeaseSettings> = {
  ttlMs: 3_000,
  marginMs: 2_000,
  waiterCheckMs: 300,
  waiterPollMs: 200,
  waiterRenewMs: 1_000,
  waiterTtlMs: 3_000,
  yieldMs: 1_000,
  requestTimeoutMs: 500,
};
/** From its last sign of life until others take a holder for dead. */
const ENDS_MS = 5_000;
const CLOSES_MS = 5_000;
/** Longer than a lease: who holds for so long has renewed it. */
const HOLDS_MS = 3_300;
const BUDGET_MS = 700;
const PATIENCE_MS = 30_000;
const LATE_MS = 100;
const LOOKED_AT_MS = 500;

const stalls = new Stalls();
const report = (line: CycleReport): void => void writeSync(1, `${JSON.stringify(line)}\n`);

async function live({ name, url }: CycleWorld): Promise<void> {
  const flaw = (text: string): void => report({ world: name, flaw: text });
  const inTime = async <T>(what: string, budgetMs: number, call: () => Promise<T>): Promise<T> => {
    const took = stalls.stopwatch();
    const outcome = await call();
    const tookMs = took();
    if (tookMs > budgetMs + LATE_MS) flaw(`${what} took ${Math.round(tookMs)} ms of ${budgetMs} ms`);
    return outcome;
  };
  const provider = (): GcsLockProvider =>
    new GcsLockProvider("gs://locks", { emulatorHost: url, lease: LEASE });
  const [first, next, hasty] = [provider(), provider(), provider()];

  const owner = first.handoffLock("job");
  owner.onLost((reason) => flaw(`a loss that did not happen: ${reason}`));
  const asked = new Promise<void>((resolve) => owner.onReleaseRequested(resolve));
  const hold = await owner.acquire({ timeout: PATIENCE_MS });
  let isReleased = false;

  const gaveUp = inTime("a wait", BUDGET_MS, () =>
    hasty
      .withLock("job", () => Promise.resolve("in"), { timeout: BUDGET_MS })
      .catch((error: { code?: string }) => error.code),
  );
  const entered = next.withLock(
    "job",
    (nextHold) => {
      if (!isReleased) flaw("two were inside");
      if (nextHold.fencingToken <= hold.fencingToken) flaw("the fence did not grow");
      return Promise.resolve();
    },
    { timeout: PATIENCE_MS, purpose: "next" },
  );
  const [outcome] = await Promise.all([gaveUp, pause(HOLDS_MS), asked]);
  if (outcome !== "lock_timeout" && outcome !== "lock_unavailable") flaw(`the wait ended with ${outcome}`);
  isReleased = true;
  await inTime("a release", ENDS_MS, () => owner.release());
  await entered;
  report({ world: name, is: "over" });
  await Promise.all([first, next, hasty].map((one) => inTime("closing", CLOSES_MS, async () => one.close())));
}

async function main(): Promise<void> {
  await Promise.all((JSON.parse(process.argv[2] ?? "[]") as CycleWorld[]).map(live));
  // A socket that was destroyed is gone in the next turns of the event loop.
  await pause(50);
  // Its pipes to whoever started it are none of the locks' doing.
  report({ left: process.getActiveResourcesInfo().filter((each) => each !== "PipeWrap") });
  // For whoever looks at the other ends of the sockets meanwhile: connections that are idle keep no process alive.
  await pause(LOOKED_AT_MS);
  const lingered = stalls.stopwatch();
  process.once("exit", () => report({ lingeredMs: lingered() }));
}

void main();
