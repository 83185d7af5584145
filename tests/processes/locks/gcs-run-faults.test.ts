import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Only, Operation } from "../../support/gcs-stand-in/fault-plan";
import { faults } from "../../support/gcs-stand-in/faults";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { HoldfastCli } from "../../support/program/holdfast-cli";
import type { Ended, HoldfastProcess } from "../../support/program/holdfast-process";
import { waitedForCore } from "../../support/program/waited-for-core";
import { Stalls } from "../../support/stalls";
import { describeAtFullSize } from "../../support/servers/servers";

jest.setTimeout(240_000);
const holdfast = new HoldfastCli();

const BUDGET_MS = 2_000;
/** What a waiter that gives up is given to take its name out of the record. */
const FAREWELL_MS = 500;
/** What a command's end is followed by at most, where the lock cannot be given back. */
const CLOSING_MS = 2_000;
const LATE_MS = 100;

/** The requests of three commands after each other: one that holds, one that waits in vain, and one that comes next. */
const requests: Record<string, [Operation, Only]> = {
  "the holder's claim": ["object.insert", {}],
  "a look at who is inside": ["object.media", {}],
  "the question for its age": ["object.get", {}],
  "a waiter's registration": ["object.insert", { body: /"waitingOwnerId":"/ }],
  "a waiter's farewell": [
    "object.insert",
    { body: /"ownerId":"[^"]*",.*"waitingOwnerId":null,.*"ownerAgeMs":[1-9]/ },
  ],
  "the handing over": ["object.insert", { body: /"ownerId":null.*"waitingOwnerId":"/ }],
  "the next one's claim": ["object.insert", { body: /"operation":"echo next"/ }],
  "the last release": ["object.insert", { body: /"ownerId":null.*"waitingOwnerId":null/ }],
};

interface Misfortune {
  readonly fault: string;
  readonly request: string;
}

/** Each fault happens to each request, alone. gcs-fault-table.test.ts has some in brief, without commands. */
const everyPair = Object.keys(requests).map((request): [string, readonly (readonly Misfortune[])[]] => [
  request,
  Object.keys(faults).map((fault) => [{ fault, request }]),
]);

// Each process is killed with this one.
beforeAll(() => process.setMaxListeners(40));
let stalls: Stalls;
beforeEach(() => (stalls = new Stalls()));
afterEach(() => stalls.end());

/** How long a process lives from now on, without what the machine made it wait for. */
async function lifeOf(process: HoldfastProcess): Promise<{ readonly tookMs: number; readonly ended: Ended }> {
  const took = stalls.stopwatch();
  const waiting = waitedForCore(process.pid, process.ended);
  const ended = await process.ended;
  const tookMs = took();
  return { tookMs: tookMs - (await waiting), ended };
}

async function until(reached: () => boolean): Promise<void> {
  while (!reached()) await pause(5);
}

async function flawsOf(misfortunes: readonly Misfortune[]): Promise<string[]> {
  const flaws: string[] = [];
  const standIn = await GcsStandIn.start({ buckets: ["locks"] });
  for (const { fault, request } of misfortunes) {
    const [operation, only] = requests[request]!;
    standIn.faults.next(operation, faults[fault]!, only);
  }
  const run = (limitSeconds: number, command: readonly string[]): HoldfastProcess =>
    holdfast.start(
      ["run", "job", "--locks", "gs://locks", "--lock-timeout", `${limitSeconds}`, "--", ...command],
      { STORAGE_EMULATOR_HOST: standIn.url },
    );
  /** Starting a program takes what it takes. */
  const firstRequestOf = async (begin: () => HoldfastProcess): Promise<HoldfastProcess> => {
    const before = standIn.log.requests.length;
    const process = begin();
    await until(() => standIn.log.requests.length > before);
    return process;
  };

  const goOn = join(holdfast.folder, new URL(standIn.url).port);
  const untilToldOrAlone = `echo running >&2; while kill -0 $PPID && [ ! -e ${goOn} ]; do sleep 0.05; done; echo over >&2`;
  const holder = run(60, ["sh", "-c", untilToldOrAlone]);
  await holder.said(/running/);

  const hasty = await lifeOf(await firstRequestOf(() => run(BUDGET_MS / 1_000, ["echo", "hasty"])));
  if (hasty.ended.stdout !== "") flaws.push("two were inside");
  if (![69, 75].includes(hasty.ended.status ?? -1)) flaws.push(`the wait ended with ${hasty.ended.status}`);
  if (hasty.tookMs > BUDGET_MS + FAREWELL_MS + LATE_MS)
    flaws.push(`a wait of ${BUDGET_MS} ms took ${Math.round(hasty.tookMs)} ms`);

  const next = await firstRequestOf(() => run(60, ["echo", "next"]));
  await until(() => waitingIn(standIn).length > 0);
  writeFileSync(goOn, "");
  await holder.said(/over/);
  const { tookMs, ended } = await lifeOf(holder);
  if (/lost/.test(ended.stderr)) flaws.push(`a loss that did not happen: ${ended.stderr}`);
  if (tookMs > CLOSING_MS + LATE_MS) flaws.push(`giving back took ${Math.round(tookMs)} ms`);
  const { status, stdout, stderr } = await next.ended;
  if (status !== 0 || stdout.trim() !== "next") flaws.push(`the next one ended with ${status}: ${stderr}`);
  const wrong = standIn.log.requests.filter((request) => request.fault !== undefined);
  if (wrong.length !== misfortunes.length) flaws.push(`${wrong.length} requests went wrong`);
  await standIn.close();
  return flaws;
}

function waitingIn(standIn: GcsStandIn): string {
  const { waitingOwnerId } = JSON.parse(
    standIn.state.objectsOf("locks").get("task:job.json")?.content.toString() ?? "{}",
  ) as { waitingOwnerId?: string | null };
  return waitingOwnerId ?? "";
}

describeAtFullSize("a misfortune", () => {
  describe.each(everyPair)("of three commands, %s", (_which, worlds) => {
    test("may go wrong in every way: the next one comes in, nobody is told a loss, and no process outlives its budget", async () => {
      const found = await Promise.all(worlds.map(async (world) => ({ world, flaws: await flawsOf(world) })));
      expect(found).toEqual(worlds.map((world) => ({ world, flaws: [] })));
    });
  });
});
