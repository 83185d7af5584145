import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import type { CycleReport } from "../../../../support/children/gcs-cycle-child";
import { typescriptChild } from "../../../../support/children/typescript-child";
import type { Only, Operation } from "../../../../support/gcs-stand-in/fault-plan";
import { faults } from "../../../../support/gcs-stand-in/faults";
import { GcsStandIn } from "../../../../support/gcs-stand-in/gcs-stand-in";
import { Stalls } from "../../../../support/stalls";
import { size } from "../../../../support/test-size";

jest.setTimeout(120_000);

/** From its last sign of life until others take a holder for dead, with the lease of the child. */
const ENDS_MS = 5_000;
const LATE_MS = 100;

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

interface Misfortune {
  readonly fault: string;
  readonly request: string;
}

const everyPair = Object.keys(requests).map((request): [string, readonly Misfortune[]] => [
  request,
  Object.keys(faults).map((fault) => ({ fault, request })),
]);

/** Each fault at one request, and each request with a fault; what is applied without an answer is a write. */
function somePairs(): readonly Misfortune[] {
  const names = Object.keys(requests);
  return Object.keys(faults).map((fault, n) => ({ fault, request: names[(n + 3) % names.length]! }));
}

interface Outcome {
  readonly flaws: readonly string[];
  /** What the process still had open when everything was closed. */
  readonly left: readonly string[] | undefined;
  readonly openSockets: number;
  readonly lingeredMs: number;
}

/** A process that lives through each misfortune in a bucket of its own. */
async function liveThrough(misfortunes: readonly Misfortune[]): Promise<Outcome> {
  const stalls = new Stalls();
  const standIns = new Map<string, GcsStandIn>();
  for (const { fault, request } of misfortunes) {
    const [operation, only] = requests[request]!;
    const standIn = await GcsStandIn.start({ buckets: ["locks"] });
    standIn.faults.next(operation, faults[fault]!, only);
    standIns.set(`${request} ${fault}`, standIn);
  }
  const worlds = [...standIns].map(([name, { url }]) => ({ name, url }));
  const { file, args } = typescriptChild("gcs-cycle-child.ts", JSON.stringify(worlds));
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  const killWithUs = (): void => void child.kill("SIGKILL");
  process.once("exit", killWithUs);

  const flaws: string[] = [];
  let left: readonly string[] | undefined;
  let openSockets = Infinity;
  let lingeredMs = Infinity;
  const ends: Promise<void>[] = [];
  const freed = async (name: string, standIn: GcsStandIn): Promise<void> => {
    const took = stalls.stopwatch();
    while (!isFree(standIn) && took() < ENDS_MS + LATE_MS) await pause(20);
    if (!isFree(standIn)) flaws.push(`${name}: the lock outlived its lease`);
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    const told = JSON.parse(line) as CycleReport;
    if ("flaw" in told) flaws.push(`${told.world}: ${told.flaw}`);
    else if ("is" in told) ends.push(freed(told.world, standIns.get(told.world)!));
    else if ("left" in told) {
      left = told.left;
      openSockets = [...standIns.values()].reduce((sum, standIn) => sum + standIn.openSockets, 0);
    } else lingeredMs = told.lingeredMs;
  });
  await once(child, "close");
  process.removeListener("exit", killWithUs);
  await Promise.all(ends);
  stalls.end();
  if (ends.length < worlds.length) flaws.push("not every life came to its end");
  for (const [name, standIn] of standIns) {
    if (standIn.log.requests.every(({ fault }) => fault === undefined))
      flaws.push(`${name}: nothing went wrong`);
    await standIn.close();
  }
  return { flaws, left, openSockets, lingeredMs };
}

function isFree(standIn: GcsStandIn): boolean {
  const { ownerId, waitingOwnerId } = JSON.parse(
    standIn.state.objectsOf("locks").get("job.json")?.content.toString() ?? '{"ownerId":null}',
  ) as { ownerId: string | null; waitingOwnerId?: string | null };
  return ownerId === null && (waitingOwnerId ?? null) === null;
}

describe.each(size(everyPair, [["each request", somePairs()]]))("of a cycle, %s", (_which, misfortunes) => {
  test("may go wrong in every way: nobody is told a loss, nobody stays, and no call and no process outlives its budget", async () => {
    const { flaws, left, openSockets, lingeredMs } = await liveThrough(misfortunes);
    expect(flaws).toEqual([]);
    expect([left, openSockets]).toEqual([[], 0]);
    expect(lingeredMs).toBeLessThan(LATE_MS);
  });
});
