import { setTimeout as pause } from "node:timers/promises";
import { GcsLeaseLockProvider } from "../../../../src/infrastructure/locking/lease/gcs-lease-lock-provider";
import type { LeaseSettings } from "../../../../src/infrastructure/locking/lease/lease-settings";
import type { Fault, Only, Operation } from "../../../support/gcs-stand-in/fault-plan";
import { GcsStandIn } from "../../../support/gcs-stand-in/gcs-stand-in";
import { sample } from "../../../support/test-size";

jest.setTimeout(120_000);

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
const ENDS_MS = 5_000;
/** Longer than a lease: who holds for so long has renewed it. */
const HOLDS_MS = 3_300;
const BUDGET_MS = 700;
const PATIENCE_MS = 30_000;
/** For a busy machine. */
const LATE_MS = 1_000;

/** The requests of a cycle, each by what tells it from the others. */
const requests: Record<string, [Operation, Only]> = {
  "the owner's claim": ["object.insert", {}],
  "a look at who is inside": ["object.media", {}],
  "the question for its age": ["object.get", {}],
  "a waiter's registration": ["object.insert", { body: /"waitingOwnerId":"/ }],
  "a renewal": ["object.insert", { body: /"renewSeq":[1-9]\d*,"fence":\d+,"ownerAgeMs":0,"holder":\{/ }],
  "the handing over": ["object.insert", { body: /"ownerId":null.*"waitingOwnerId":"/ }],
  "the waiter's claim": ["object.insert", { body: /"operation":"next"/ }],
  "the last release": ["object.insert", { body: /"ownerId":null.*"waitingOwnerId":null/ }],
};

const faults: Record<string, () => Fault> = {
  "is dropped": () => ({ kind: "reset" }),
  "is applied, and its answer dropped": () => ({ kind: "lose-answer" }),
  "has an answer that breaks off": () => ({ kind: "tear", then: "reset" }),
  "has an answer that is cut and says that it is whole": () => ({ kind: "cut", bytes: 40 }),
  hangs: () => ({ kind: "stall" }),
  "is applied, and its answer hangs": () => ({ kind: "stall-answer" }),
  "has an answer that hangs in its middle": () => ({ kind: "tear", then: "stall" }),
  "is delayed": () => ({ kind: "hold", until: pause(300) }),
  "is dropped, and applied late": () => ({ kind: "land-late", until: pause(900) }),
  "is answered by somebody else": () => ({ kind: "page", status: 200, content: "<html>Sign in</html>" }),
};

/** What went wrong in one life of a lock: two that are inside one after the other, and one that gives up in between. */
async function flawsOf(fault: Fault, [operation, only]: [Operation, Only]): Promise<string[]> {
  const flaws: string[] = [];
  const standIn = await GcsStandIn.start({ buckets: ["locks"] });
  const provider = (): GcsLeaseLockProvider =>
    new GcsLeaseLockProvider("gs://locks", { emulatorHost: standIn.url, lease: LEASE });
  const [first, next, hasty] = [provider(), provider(), provider()];
  standIn.faults.next(operation, fault, only);

  const owner = first.handoffLock("job");
  owner.onLost((reason) => void flaws.push(`a loss that did not happen: ${reason}`));
  const asked = new Promise<void>((resolve) => owner.onReleaseRequested(resolve));
  const hold = await owner.acquire({ timeout: PATIENCE_MS });
  let isReleased = false;

  const gaveUp = givesUpInTime(hasty, flaws);
  const entered = next.withLock(
    "job",
    (nextHold) => {
      if (!isReleased) flaws.push("two were inside");
      if (nextHold.fencingToken <= hold.fencingToken) flaws.push("the fence did not grow");
      return Promise.resolve();
    },
    { timeout: PATIENCE_MS, purpose: "next" },
  );
  await Promise.all([pause(HOLDS_MS), asked, gaveUp]);
  isReleased = true;
  await owner.release();
  await entered;

  const endedMs = performance.now();
  while (!isFree(standIn) && performance.now() < endedMs + ENDS_MS + LATE_MS) await pause(20);
  if (!isFree(standIn)) flaws.push("the lock outlived its lease");
  if (standIn.log.requests.every((request) => request.fault === undefined)) flaws.push("nothing went wrong");
  await Promise.all([first.close(), next.close(), hasty.close()]);
  await pause(50);
  if (openSockets(standIn) > 0) flaws.push("a socket was left");
  await standIn.close();
  return flaws;
}

async function givesUpInTime(locks: GcsLeaseLockProvider, flaws: string[]): Promise<void> {
  const sinceMs = performance.now();
  const outcome = await locks
    .withLock("job", () => Promise.resolve("in"), { timeout: BUDGET_MS })
    .catch((error: { code?: string }) => error.code);
  if (outcome !== "lock_timeout" && outcome !== "lock_unavailable") flaws.push(`it ended with ${outcome}`);
  if (performance.now() - sinceMs > BUDGET_MS + LATE_MS) flaws.push("a call outlived its budget");
}

function isFree(standIn: GcsStandIn): boolean {
  const { ownerId, waitingOwnerId } = JSON.parse(
    standIn.state.objectsOf("locks").get("job.json")?.content.toString() ?? '{"ownerId":null}',
  ) as { ownerId: string | null; waitingOwnerId?: string | null };
  return ownerId === null && (waitingOwnerId ?? null) === null;
}

function openSockets(standIn: GcsStandIn): number {
  const port = Number(new URL(standIn.url).port);
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  return handles.filter((handle) => (handle as { remotePort?: number }).remotePort === port).length;
}

const timers = (): number => process.getActiveResourcesInfo().filter((each) => each === "Timeout").length;

describe.each(sample(Object.keys(requests), 2))("of a cycle, %s", (request) => {
  test("may go wrong in every way: nobody is told a loss, nobody stays, nothing takes longer than it may", async () => {
    const before = timers();
    const found = await Promise.all(
      Object.entries(faults).map(async ([name, fault]) => [name, await flawsOf(fault(), requests[request]!)]),
    );
    expect(found).toEqual(Object.keys(faults).map((name) => [name, []]));
    expect(timers()).toBeLessThanOrEqual(before);
  });
});
