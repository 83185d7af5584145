import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { eventually, HoldfastCli, untilEnded } from "../../../support/program/holdfast-cli";
import { describeWithPseudoTerminal, describeWithRedis } from "../../../support/servers/servers";
import { tcpRelayTo } from "../../../support/servers/tcp-relay";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const LOCKS = "file:locks?mode=exclusive-create";
const run = (...more: string[]) => ["run", "nightly", "--locks", LOCKS, ...more];
const isFree = async () => (await holdfast.run(run("--", "true"))).status === 0;

/** Stays until `stop` is there, or until the test is over and its folder with it. */
const untilStopped = "while [ -d locks ] && [ ! -e stop ]; do sleep 0.05; done";
const stop = () => appendFileSync(join(holdfast.folder, "stop"), "");

describe("a signal", () => {
  test("a signal that is sent to the whole process group reaches the command once", async () => {
    const script = `
      let hangUps = 0;
      process.on("SIGHUP", () => console.error("hung up " + (hangUps += 1)));
      process.on("SIGTERM", () => { console.error("in all " + hangUps); process.exit(0); });
      console.error("running");
      const parent = process.ppid;
      setInterval(() => { if (process.ppid !== parent) process.exit(1); }, 100);
    `;
    const running = holdfast.start(run("--", process.execPath, "-e", script));
    await running.said(/^running/);
    process.kill(-running.pid, "SIGHUP");
    await running.said(/^hung up 1/);
    // What is passed on is passed on in order: a second one would come before this.
    const { status, stderr } = await running.end("SIGTERM");
    expect(stderr).toContain("in all 1");
    expect(status).toBe(0);
  });

  test("a signal that is sent to the group a second time reaches the command a second time", async () => {
    const script = `
      let hangUps = 0;
      process.on("SIGHUP", () => { console.error("hung up " + (hangUps += 1)); });
      process.on("SIGTERM", () => { console.error("in all " + hangUps); process.exit(0); });
      console.error("running");
      const parent = process.ppid;
      setInterval(() => { if (process.ppid !== parent) process.exit(1); }, 100);
    `;
    const running = holdfast.start(run("--", process.execPath, "-e", script));
    await running.said(/^running/);
    process.kill(-running.pid, "SIGHUP");
    await running.said(/^hung up 1/);
    // Ours may not have handled the first one yet, and two that are pending at once are one.
    await eventually(
      async () => {
        running.signal("SIGHUP");
        return running.lines;
      },
      (lines) => lines.some((line) => line.startsWith("hung up 2")),
    );
    expect((await running.end("SIGTERM")).stderr).toMatch(/in all [2-9]/);
  });

  test("SIGINT that ends the command ends us in the same way, so that whoever called us can see it", async () => {
    const { status, signal } = await holdfast.run(run("--", "sh", "-c", "kill -INT $$"));
    expect({ status, signal }).toEqual({ status: null, signal: "SIGINT" });
    expect(await isFree()).toBe(true);
  });
});

describeWithPseudoTerminal("in a shell's loop under a terminal,", (start) => {
  test("Ctrl-C ends the loop, not just the command", async () => {
    const command = holdfast.shellWords(run("--", ...untilEnded));
    const loop = start(
      `exec bash -c "while :; do ${command.replaceAll(/[\\$"`]/g, "\\$&")}; echo next; done"`,
      holdfast.folder,
    );
    await loop.shows(/running \d+/);
    loop.type("\x03");
    expect((await loop.ended).shown).not.toContain("next");
  });
});

describe("--kill-group", () => {
  const leavesOneBehind = `sh -c '${untilStopped}' >/dev/null 2>&1 & echo "left $!" >&2`;

  test("what the command left behind ends before the lock is given back", async () => {
    const { status, stderr } = await holdfast.run(
      run("--kill-group", "--", "sh", "-c", `${leavesOneBehind}; exit 7`),
    );
    expect(status).toBe(7);
    expect(isRunning(Number(/left (\d+)/.exec(stderr)![1]))).toBe(false);
    expect(await isFree()).toBe(true);
  });

  test("signals reach everything that the command started", async () => {
    const told = `sh -c 'trap "echo child >&2; exit" USR1; echo "running" >&2; ${untilStopped}' &`;
    const script = `trap 'echo parent >&2; wait; exit 5' USR1; ${told} wait; wait`;
    const running = holdfast.start(run("--kill-group", "--", "sh", "-c", script));
    await running.said(/^running/);
    const { status, stderr } = await running.end("SIGUSR1");
    expect(status).toBe(5);
    expect(stderr).toMatch(/^child$/m);
    expect(stderr).toMatch(/^parent$/m);
  });

  test("a lost lock ends all of it", async () => {
    const running = holdfast.start(run("--kill-group", "--", "sh", "-c", `${leavesOneBehind}; wait`));
    const left = Number((await running.said(/^left (\d+)/))[1]);
    await eventually(
      async () => holdfast.run(["locks", "list", "--locks", LOCKS]),
      ({ stdout }) => stdout.includes("held"),
    );
    rmSync(join(holdfast.folder, "locks", "task.nightly.lock"));
    expect((await running.ended).status).toBe(79);
    expect(isRunning(left)).toBe(false);
  });
});

describe("--wait-descendants", () => {
  const daemon = `(setsid sh -c '${untilStopped}' >/dev/null 2>&1 &); exit 3`;

  test("--wait-descendants keeps the lock until everything has ended that the command started", async () => {
    const running = holdfast.start(
      run("--wait-descendants", "--", "sh", "-c", `echo "running" >&2; ${daemon}`),
    );
    await running.said(/^running/);
    expect(await isFree()).toBe(false);
    stop();
    expect((await running.ended).status).toBe(3);
    expect(await isFree()).toBe(true);
  });

  /** Says its own number once the command is over, and closes the stderr that the test reads to its end. */
  const leftAlone = `sh -c 'while kill -0 $0 2>/dev/null; do sleep 0.05; done; echo "alone $$" >&2; exec 2>/dev/null; ${untilStopped}' $$ >/dev/null &`;

  test("a signal that ends the wait for descendants leaves the command's status as it is, and says that they go on", async () => {
    const running = holdfast.start(run("--wait-descendants", "--", "sh", "-c", `${leftAlone} exit 3`));
    const left = Number((await running.said(/^alone (\d+)/))[1]);
    const { status, stderr } = await running.end("SIGTERM");
    expect(stderr).toContain("holdfast: SIGTERM ended the wait for what the command started: it goes on");
    expect(status).toBe(3);
    expect(isRunning(left)).toBe(true);
    expect(await isFree()).toBe(true);
    stop();
  });

  test("--wait-descendants with --kill-group waits until a signal, and then ends what is left", async () => {
    const both = ["--wait-descendants", "--kill-group"];
    const running = holdfast.start(run(...both, "--", "sh", "-c", `${leftAlone} exit 3`));
    const left = Number((await running.said(/^alone (\d+)/))[1]);
    expect(await isFree()).toBe(false);
    const { status, stderr } = await running.end("SIGTERM");
    expect(stderr).toContain("holdfast: SIGTERM ended the wait for what the command started: ending it");
    expect(status).toBe(3);
    expect(isRunning(left)).toBe(false);
    expect(await isFree()).toBe(true);
  });
});

describeWithRedis("a lock service that falls silent", (redis) => {
  test("a lock service that falls silent does not keep anybody waiting for the status of a command that has ended, and that is said", async () => {
    const relay = await tcpRelayTo(redis.url);
    try {
      const task = `silent-${redis.keyPrefix.replaceAll(/\W/g, "")}`;
      const command = [
        "sh",
        "-c",
        `echo "running" >&2; ${untilStopped.replace("[ -d locks ] && ", "")}; exit 4`,
      ];
      const running = holdfast.start(["run", task, "--locks", relay.url, "--", ...command]);
      await running.said(/^running/);
      relay.silence();
      const sinceMs = performance.now();
      stop();
      const { status, stderr } = await running.ended;
      expect(performance.now() - sinceMs).toBeLessThan(10_000);
      expect(stderr).toContain("holdfast: the lock service does not answer");
      expect(status).toBe(4);
    } finally {
      await relay.close();
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
