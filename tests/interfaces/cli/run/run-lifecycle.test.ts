import { appendFileSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { GcsStandIn } from "../../../support/gcs-stand-in/gcs-stand-in";
import { Gate } from "../../../support/fakes/gate";
import { eventually, HoldfastCli, untilEnded } from "../../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const KERNEL = "file:locks";
const EXCLUSIVE = "file:locks?mode=exclusive-create";
const run = (locks: string, ...more: string[]) => ["run", "nightly", "--locks", locks, ...more];
const isFree = async (locks: string) => (await holdfast.run(run(locks, "--", "true"))).status === 0;
const lockFile = () => {
  const name = readdirSync(join(holdfast.folder, "locks")).find((one) => one.endsWith(".lock"));
  return join(holdfast.folder, "locks", name!);
};
/** The record is written once more when the command has a number; a file that is removed before that would come back. */
const commandNoted = () =>
  eventually(
    async () => readFileSync(lockFile(), "utf8"),
    (record) => /"childPid":\d/.test(record),
  );
const pidIn = (match: RegExpExecArray) => Number(match[1]);

/** As `untilEnded`, but tells of its signals and ends with the last of these. */
const tellsOf = (...signals: string[]) => [
  "sh",
  "-c",
  [
    ...signals.map((signal) => `trap 'echo got ${signal} >&2' ${signal}`),
    `trap 'echo got TERM >&2; exit 5' TERM`,
    'echo "running $$" >&2',
    "while kill -0 $PPID 2>/dev/null; do sleep 0.1; done",
  ].join("; "),
];

describe("signals", () => {
  test.each(["INT", "HUP", "QUIT", "USR1", "USR2"])("SIG%s is passed on to the command", async (signal) => {
    const running = holdfast.start(run(KERNEL, "--", ...tellsOf(signal)));
    await running.said(/^running/);
    running.signal(`SIG${signal}` as NodeJS.Signals);
    await running.said(new RegExp(`^got ${signal}$`));
    // It has handled the signal, so it goes on, and its own status is what counts.
    const { status, stderr } = await running.end("SIGTERM");
    expect(stderr).toContain("got TERM");
    expect(status).toBe(5);
  });

  test("one that ends the command is told as 128 and its number", async () => {
    const running = holdfast.start(run(KERNEL, "--", ...untilEnded));
    await running.said(/^running/);
    expect(await running.end("SIGHUP")).toMatchObject({ status: 129, signal: null });
    expect(await isFree(KERNEL)).toBe(true);
  });

  test("those that come while the lock is given back change nothing, until a second one ends it", async () => {
    const standIn = await GcsStandIn.start({ buckets: ["locks"] });
    const gate = new Gate();
    try {
      const env = { STORAGE_EMULATOR_HOST: standIn.url };
      const leaving = holdfast.start(run("gs://locks", "--", ...untilEnded), env);
      await leaving.said(/^running/);
      standIn.faults.next(
        "object.insert",
        { kind: "hold", until: gate.passed },
        { body: /"ownerId":null/, times: 10 },
      );
      leaving.signal("SIGTERM");
      const isReleasing = () => standIn.log.requests.some(({ fault }) => fault === "hold");
      await eventually(async () => isReleasing(), Boolean);
      leaving.signal("SIGINT");
      leaving.signal("SIGUSR1");
      // Of another kind than the first: equal ones may be merged while they are pending.
      leaving.signal("SIGHUP");
      expect(await leaving.ended).toMatchObject({ status: null, signal: expect.stringMatching(/INT|HUP/) });
    } finally {
      gate.open();
      await standIn.close();
    }
  });
});

describe("a wrapper killed with kill -9", () => {
  test.each([
    ["kernel", KERNEL],
    ["exclusive-create", EXCLUSIVE],
  ])("leaves the lock with its living command, in %s mode, and frees it with that", async (_mode, locks) => {
    // Outlives its wrapper, and is told to end by the file that it waits for.
    const script =
      'echo "running $$" >&2; for i in $(seq 300); do [ -e locks/stop ] && exit; sleep 0.1; done';
    const wrapper = holdfast.start(run(locks, "--", "sh", "-c", script));
    const command = pidIn(await wrapper.said(/^running (\d+)$/));
    await eventually(
      async () => readFileSync(lockFile(), "utf8"),
      (record) => record.includes(`"childPid":${command}`),
    );
    wrapper.signal("SIGKILL");
    await eventually(
      async () => isRunning(wrapper.pid),
      (running) => !running,
    );

    const refused = await holdfast.run(run(locks, "--", "true"));
    expect({ status: refused.status, stderr: refused.stderr }).toEqual({
      status: 75,
      stderr: expect.stringContaining(`held by pid ${command} on`) as string,
    });
    appendFileSync(join(holdfast.folder, "locks", "stop"), "");
    expect((await holdfast.run(run(locks, "--lock-timeout", "30", "--", "true"))).status).toBe(0);
  });
});

test.each([
  ["kernel", KERNEL],
  ["exclusive-create", EXCLUSIVE],
])("a daemon that outlives the command does not keep the lock, in %s mode", async (_mode, locks) => {
  const script = "(for i in $(seq 300); do [ -e stop ] && exit; sleep 0.1; done) >/dev/null 2>&1 & echo $!";
  const { status, stdout } = await holdfast.run(run(locks, "--", "sh", "-c", script));
  expect(status).toBe(0);
  expect(isRunning(Number(stdout))).toBe(true);
  expect(await isFree(locks)).toBe(true);
  appendFileSync(join(holdfast.folder, "stop"), "");
});

describe.each([
  ["kernel", KERNEL],
  ["exclusive-create", EXCLUSIVE],
])("a lock that is lost while the command runs, in %s mode,", (_mode, locks) => {
  test("a lock that is lost while the command runs ends the command with TERM, and is told as 79", async () => {
    const running = holdfast.start(run(locks, "--", ...tellsOf()));
    await running.said(/^running/);
    await commandNoted();
    rmSync(lockFile());
    const { status, stderr } = await running.ended;
    expect(stderr).toMatch(/holdfast: the lock is lost \(.*\.lock was removed.*\); ending the command/);
    expect(stderr).toContain("got TERM");
    expect(status).toBe(79);
  });

  test("a lock that is lost while the command runs leaves the command alone with --on-lost continue, and its status counts", async () => {
    const running = holdfast.start(run(locks, "--on-lost", "continue", "--", ...tellsOf()));
    await running.said(/^running/);
    await commandNoted();
    rmSync(lockFile());
    await running.said(/the lock is lost .*; the command continues without it/);
    expect((await running.end("SIGTERM")).status).toBe(5);
  });
});

test("a command that does not end when its lock is lost is killed, and the lock's new holder is left alone", async () => {
  const stubborn = `trap "" TERM; echo "running $$" >&2; while kill -0 $PPID 2>/dev/null; do sleep 0.1; done`;
  const running = holdfast.start(run(EXCLUSIVE, "--", "sh", "-c", stubborn));
  const command = pidIn(await running.said(/^running (\d+)$/));
  await commandNoted();
  renameSync(lockFile(), `${lockFile()}.aside`);
  const next = holdfast.start(run(EXCLUSIVE, "--", ...untilEnded));
  await next.said(/^running/);
  expect((await running.ended).status).toBe(79);
  expect(isRunning(command)).toBe(false);
  expect(await isFree(EXCLUSIVE)).toBe(false);
  expect((await next.end("SIGTERM")).status).toBe(143);
});

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
