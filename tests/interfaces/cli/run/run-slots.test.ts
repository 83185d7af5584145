import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GcsStandIn } from "../../../support/gcs-stand-in/gcs-stand-in";
import { eventually, HoldfastCli } from "../../../support/program/holdfast-cli";
import { describeWithPostgres, describeWithRedis } from "../../../support/servers/servers";

jest.setTimeout(120_000);
const holdfast = new HoldfastCli();

/** Of this run alone: some of the servers are shared. */
const TASK = `encode-${process.pid}`;
const run = (locks: string, slots: number, ...command: string[]) => [
  "run",
  TASK,
  "--locks",
  locks,
  `--slots=${slots}`,
  "--",
  ...command,
];
/** Stays until a signal ends it, or until its wrapper is gone. */
const tellsItsSlot = [
  "sh",
  "-c",
  'echo "in slot $HOLDFAST_SLOT" >&2; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done',
];
const tellsAndEnds = ["sh", "-c", 'echo "slot $HOLDFAST_SLOT fence $HOLDFAST_FENCING_TOKEN"'];

/** Two inside, a third refused, another number refused, and a slot that comes back when its wrapper is killed with its command. */
async function expectTwoSlots(locks: string, env?: NodeJS.ProcessEnv): Promise<void> {
  const started = [1, 2].map(() => holdfast.start(run(locks, 2, ...tellsItsSlot), env));
  const [first, second] = started;
  const [, firstSlot] = await first!.said(/^in slot ([12])$/);
  const [, secondSlot] = await second!.said(/^in slot ([12])$/);
  expect([firstSlot, secondSlot].sort()).toEqual(["1", "2"]);

  const third = await holdfast.run(run(locks, 2, "echo", "ran"), env);
  expect(third).toMatchObject({ status: 75, stdout: "" });
  const differing = await holdfast.run(run(locks, 3, "echo", "ran"), env);
  expect(differing).toMatchObject({ status: 78, stdout: "" });
  expect(differing.stderr).toMatch(
    /with 3 permits: it is used with 2, by .*give all callers the same --slots/,
  );

  await first!.end("SIGTERM");
  const next = await holdfast.run(run(locks, 2, ...tellsAndEnds), env);
  expect(next).toMatchObject({ status: 0 });
  expect(next.stdout).toMatch(new RegExp(`^slot ${firstSlot} fence \\d+$`, "m"));
  await second!.end("SIGTERM");
  const changed = await holdfast.run(run(locks, 3, "echo", "ran"), env);
  expect(changed).toMatchObject({ status: 0, stdout: "ran\n" });
}

describe("holdfast run --slots", () => {
  test.each(["", "x", "0", "-1", "1.5", "1025"])(
    'the number "%s" is refused, and nothing runs',
    async (slots) => {
      const refused = await holdfast.run([
        "run",
        TASK,
        "--locks=file:locks",
        `--slots=${slots}`,
        "--",
        "echo",
        "ran",
      ]);
      expect(refused).toMatchObject({ status: 64, stdout: "" });
      expect(refused.stderr).toContain("--slots");
    },
  );

  test("commands have their slots in lock files", () => expectTwoSlots("file:locks"));

  test("a slot in a lock file is kept by a command whose wrapper was killed, as a lock is", async () => {
    const first = holdfast.start(run("file:orphan", 1, "sh", "-c", "echo $$ >&2; exec sleep 60"));
    const [, pid] = await first.said(/^(\d+)$/);
    try {
      // Not before the wrapper has written down whose lock it is.
      await eventually(
        () => readFile(join(holdfast.folder, "orphan", `task.${TASK}%231.lock`), "utf8"),
        (written) => written.includes(`"childPid":${pid},`),
      );
      // `ended` is not waited for: the command has its output.
      process.kill(first.pid, "SIGKILL");
      await eventually(
        async () => isRunning(first.pid),
        (running) => !running,
      );
      const refused = await holdfast.run(run("file:orphan", 1, "true"));
      expect(refused.status).toBe(75);
      expect(refused.stderr).toContain(`pid ${pid}`);
    } finally {
      process.kill(Number(pid), "SIGKILL");
    }
    const patient = ["run", TASK, "--locks=file:orphan", "--slots=1", "--lock-timeout=5", "--", "true"];
    expect((await holdfast.run(patient)).status).toBe(0);
  });

  describeWithPostgres("with a PostgreSQL", (server) => {
    test("commands have their slots in PostgreSQL", () => expectTwoSlots(server.url));
  });

  describeWithRedis("with a Redis", (redis) => {
    test("commands have their slots in Redis", () => expectTwoSlots(redis.url));
  });

  test("commands have their slots in a bucket", async () => {
    const standIn = await GcsStandIn.start({ buckets: ["locks"], limitMutations: false });
    try {
      await expectTwoSlots("gs://locks/jobs", { STORAGE_EMULATOR_HOST: standIn.url });
    } finally {
      await standIn.close();
    }
  });
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
