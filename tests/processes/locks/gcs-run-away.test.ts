import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import type { Fault, Operation } from "../../support/gcs-stand-in/fault-plan";
import { sample } from "../../support/test-size";
import { eventually, HoldfastCli, untilEnded } from "../../support/program/holdfast-cli";
import type { HoldfastProcess } from "../../support/program/holdfast-process";
import { testAtFullSize } from "../../support/servers/servers";

jest.setTimeout(120_000);
const holdfast = new HoldfastCli();
const ANY: readonly Operation[] = ["object.list", "object.media", "object.get", "object.insert"];
const OBJECT = "jobs/task:nightly.json";
/** What a process may take on a busy machine for what it should do at once; less than any time-out of a request. */
const SLACK_MS = 2_000;

let standIn: GcsStandIn;
beforeEach(async () => {
  standIn = await GcsStandIn.start({ buckets: ["locks"] });
});
afterEach(() => standIn.close());

const run = (options: readonly string[], command: readonly string[] = ["echo", "ran"]): HoldfastProcess =>
  holdfast.start(["run", "nightly", "--locks", "gs://locks/jobs", ...options, "--", ...command], {
    STORAGE_EMULATOR_HOST: standIn.url,
  });

/** From here on, each request ends like this. */
const away = (fault: Fault, times = 1_000): void => standIn.faults.next(ANY, fault, { times });

const record = () =>
  JSON.parse(standIn.state.objectsOf("locks").get(OBJECT)?.content.toString() ?? "null") as {
    readonly ownerId: string | null;
    readonly waitingOwnerId: string | null;
  } | null;

const requests = () => standIn.log.requests.length;

/** How long it lives after its first request has arrived; starting a program takes what it takes. */
async function lifeAfterFirstRequest(process: HoldfastProcess): Promise<number> {
  await eventually(
    async () => requests(),
    (count) => count > 0,
  );
  const startedMs = performance.now();
  await process.ended;
  return performance.now() - startedMs;
}

describe("the limit of the wait governs the first request as well", () => {
  const endings: readonly [string, Fault][] = [
    ["is answered by 503", { kind: "answer", status: 503 }],
    ["is answered by 429", { kind: "answer", status: 429 }],
    ["loses its connection", { kind: "reset" }],
    ["is never answered", { kind: "stall" }],
  ];
  test.each(sample(endings, 2, 1))(
    "one that %s is followed by others, and the command runs",
    async (_what, fault) => {
      away(fault, 1);
      const { status, stdout } = await run(["--lock-timeout", "60"]).ended;
      expect([status, stdout.trim()]).toEqual([0, "ran"]);
    },
  );

  test("a service that is silent ends the wait at its limit, and the process with it", async () => {
    away({ kind: "stall" });
    const waiting = run(["--lock-timeout", "2"]);
    expect(await lifeAfterFirstRequest(waiting)).toBeLessThan(2_000 + SLACK_MS);
    const { status, stderr, stdout } = await waiting.ended;
    expect([status, stdout]).toEqual([69, ""]);
    expect(stderr).not.toContain("held by");
  });

  test("one attempt on a service that is silent ends within its two seconds, and the process with it", async () => {
    away({ kind: "stall" });
    const once = run(["--lock-timeout", "0"]);
    expect(await lifeAfterFirstRequest(once)).toBeLessThan(2_000 + SLACK_MS);
    const { status, stderr, stdout } = await once.ended;
    expect([status, stdout]).toEqual([69, ""]);
    expect(stderr).not.toContain("held by");
  });

  test("a service that keeps failing is named as such while one waits, and in the end", async () => {
    away({ kind: "answer", status: 503 });
    const waiting = run(["--lock-timeout", "3"]);
    await waiting.said(/waiting for task:nightly, .*503.*; \d s left/);
    const { status, stderr } = await waiting.ended;
    expect(status).toBe(69);
    expect(stderr).toMatch(/cannot lock task:nightly: .*503/);
    expect(stderr).not.toContain("held by");
  });

  test("a free lock that may not be taken yet is not said to be held by anybody", async () => {
    standIn.faults.next("object.insert", { kind: "answer", status: 429 }, { times: 1_000 });
    const waiting = run(["--lock-timeout", "5"]);
    const { status, stderr } = await waiting.ended;
    expect(status).toBe(69);
    expect(stderr).not.toContain("held by");
    expect(stderr).toContain("request rate");
  });
});

describe("one signal is enough,", () => {
  test.each(sample(["SIGINT", "SIGTERM"] as const, 2, 0))(
    "%s while waiting on a service that has fallen silent",
    async (signal) => {
      const holder = run([], untilEnded);
      await holder.said(/running/);
      const waiter = run(["--lock-timeout", "60"]);
      await eventually(
        async () => record(),
        (shown) => shown?.waitingOwnerId !== null && shown?.waitingOwnerId !== undefined,
      );
      const before = requests();
      away({ kind: "stall" });
      await eventually(
        async () => requests(),
        (count) => count > before,
      );
      const signalledMs = performance.now();
      const ended = await waiter.end(signal);
      expect(performance.now() - signalledMs).toBeLessThan(1_500);
      expect([ended.status, ended.signal]).toEqual(signal === "SIGINT" ? [null, "SIGINT"] : [143, null]);
    },
  );

  test.each(sample(["SIGINT", "SIGTERM"] as const, 2, 1))(
    "%s while the lock is given back to a service that has fallen silent: the command's status stands",
    async (signal) => {
      standIn.faults.next("object.insert", { kind: "stall" }, { body: /"ownerId":null/, times: 100 });
      const run7 = run([], ["sh", "-c", "exit 7"]);
      await eventually(
        async () => standIn.log.requests.some(({ fault }) => fault === "stall"),
        (isReleasing) => isReleasing,
      );
      const { status, stderr } = await run7.end(signal);
      expect(status).toBe(7);
      expect(stderr).toContain("without waiting for the lock service");
    },
  );
});

testAtFullSize("79 waits for nobody: with the lock lost there is nothing to give back", async () => {
  // It takes a moment to end, in which the service falls silent.
  const stubborn = 'trap "sleep 1; exit 0" TERM; echo running >&2; while kill -0 $PPID; do sleep 0.1; done';
  const holder = run([], ["sh", "-c", stubborn]);
  await holder.said(/running/);
  const stolen = { ...record(), ownerId: "somebody:1:else" };
  standIn.state.insert("locks", OBJECT, Buffer.from(JSON.stringify(stolen)), {
    contentType: "application/json",
  });
  await holder.said(/the lock is lost/);
  away({ kind: "stall" });
  const { status, stderr } = await holder.ended;
  expect(status).toBe(79);
  expect(stderr).not.toContain("does not answer");
});
