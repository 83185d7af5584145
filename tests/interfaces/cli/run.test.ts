import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockFileName } from "../../../src/infrastructure/locking/file/on-disk/lock-file-name";
import { HoldfastCli } from "../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const sh = (script: string) => ["--", "sh", "-c", script];
/** Where the tests' own user keeps locks: each test has a home of its own. */
const stateDirectory = () => join(holdfast.folder, ".local", "state", "holdfast", "locks");

describe("the command's own status is passed on", () => {
  test.each([
    ["that all is well", "exit 0", 0],
    ["that something is not", "exit 7", 7],
    ["even one of those that mean something here", "exit 75", 75],
    ["as 128 and the signal's number, if a signal ended it", "kill -TERM $$", 143],
    ["also where it was killed", "kill -KILL $$", 137],
  ])("holdfast run passes on the status of its command: %s", async (_what, script, status) => {
    const ended = await holdfast.run(["run", "nightly", ...sh(script)]);
    expect(ended).toMatchObject({ status, signal: null, stdout: "", stderr: "" });
  });

  test("the command's own status is passed on or 127 if there is no such command", async () => {
    const { status, stderr } = await holdfast.run(["run", "nightly", "--", "./no-such-command"]);
    expect(stderr).toBe("holdfast: cannot start ./no-such-command: no such command");
    expect(status).toBe(127);
  });

  test("the command's own status is passed on or 126 if it cannot be executed, whatever the system calls the reason", async () => {
    writeFileSync(join(holdfast.folder, "plain"), "no program");
    chmodSync(join(holdfast.folder, "plain"), 0o644);
    for (const [command, reason] of [
      ["./plain", "EACCES"],
      ["./plain/below-a-file", "ENOTDIR"],
    ] as const) {
      const { status, stderr } = await holdfast.run(["run", "nightly", "--", command]);
      expect({ status, stderr }).toEqual({
        status: 126,
        stderr: expect.stringMatching(`^holdfast: cannot start ${command}: .*${reason}`) as string,
      });
    }
    // Nothing of it is left behind.
    expect((await holdfast.run(["run", "nightly", ...sh("true")])).status).toBe(0);
  });
});

describe("the command", () => {
  test("the command gets its arguments as they are, a second -- and flags of ours among them", async () => {
    const args = ["a  b", "--", "--json", "$HOME", "ü"];
    const { stdout } = await holdfast.run([
      "run",
      "t",
      "--",
      process.execPath,
      "-e",
      "console.log(JSON.stringify(process.argv.slice(1)))",
      "--",
      ...args,
    ]);
    expect(JSON.parse(stdout)).toEqual(args);
  });

  test("the command is told its lock and a fencing token that grows, beside our own environment", async () => {
    const tell = sh('echo "$HOLDFAST_LOCK_KEY $HOLDFAST_FENCING_TOKEN $COLOUR"');
    const tokens: bigint[] = [];
    for (const colour of ["red", "green"]) {
      const { stdout } = await holdfast.run(["run", "nightly", ...tell], { COLOUR: colour });
      const [key, token, seen] = stdout.trim().split(" ");
      expect([key, seen]).toEqual(["task:nightly", colour]);
      tokens.push(BigInt(token!));
    }
    expect(tokens[1]!).toBeGreaterThan(tokens[0]!);
  });

  test("the command has our stdin, stdout and stderr, and none of them is left non-blocking", async () => {
    // Flags of open files are shared: one that we made non-blocking would be that for the command, too.
    const script = `cat; for fd in 0 1 2; do grep flags /proc/self/fdinfo/$fd >&2; done`;
    const { stdout, stderr } = await holdfast.run(["run", "nightly", ...sh(script)], {}, "from stdin\n");
    expect(stdout).toBe("from stdin\n");
    const flags = stderr.split("\n").map((line) => Number.parseInt(line.split(/\s+/)[1]!, 8));
    expect(flags.map((each) => each & 0o4000)).toEqual([0, 0, 0]);
  });

  test("the command runs under a lock whose directory is made if it is missing, for this user alone", async () => {
    expect((await holdfast.run(["run", "nightly", ...sh("true")])).status).toBe(0);
    expect(statSync(stateDirectory()).mode & 0o777).toBe(0o700);
    const state = join(holdfast.folder, "elsewhere");
    expect((await holdfast.run(["run", "x", ...sh("true")], { XDG_STATE_HOME: state })).status).toBe(0);
    expect(existsSync(join(state, "holdfast", "locks"))).toBe(true);
  });
});

describe("what cannot be meant ends with 64, and nothing runs", () => {
  const touch = sh("touch ran");

  test.each([
    ["no command", ["run", "nightly"], /missing required argument 'command'/],
    ["no task", ["run", "", ...touch], /the name of the task is empty/],
    ["a command without a name", ["run", "nightly", "--", ""], /the name of the command is empty/],
    ["a flag of the command without --", ["run", "nightly", "touch", "-c", "ran"], /unknown option '-c'/],
    ["junk in a flag", ["run", "nightly", "--lock-timeout", "soon", ...touch], /--lock-timeout/],
    ["another end of a lost lock", ["run", "nightly", "--on-lost", "pray", ...touch], /--on-lost/],
    ["locks that no other process sees", ["run", "x", "--locks", "memory:", ...touch], /--locks is memory:/],
  ])("holdfast run refuses %s and starts nothing", async (_what, args, words) => {
    const { status, stdout, stderr } = await holdfast.run(args);
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toMatch(words);
    for (const line of stderr.split("\n")) expect(line).toMatch(/^holdfast: \S/);
    expect(existsSync(join(holdfast.folder, "ran"))).toBe(false);
  });

  test("in the environment, locks that no other process sees are told with their source", async () => {
    const { status, stderr } = await holdfast.run(["run", "x", ...touch], { HOLDFAST_LOCKS: "memory:" });
    expect({ status, stderr }).toEqual({
      status: 64,
      stderr: expect.stringMatching(/^holdfast: HOLDFAST_LOCKS is memory:/) as string,
    });
  });
});

describe("a place for locks that there is not ends with 78", () => {
  test("a place for locks that there is not ends with 78 when no variable tells one", async () => {
    const { status, stderr } = await holdfast.run(["run", "x", ...sh("touch ran")], { HOME: "" });
    expect(status).toBe(78);
    expect(stderr).toContain("XDG_STATE_HOME and HOME give no directory for locks");
    expect(stderr).toContain("--locks file:<dir>");
  });

  test("a place for locks that there is not ends with 78 when it cannot be made or written to", async () => {
    writeFileSync(join(holdfast.folder, "file"), "");
    for (const env of [{ HOME: join(holdfast.folder, "file") }, { XDG_STATE_HOME: "/proc/nowhere" }]) {
      const { status, stderr } = await holdfast.run(["run", "x", ...sh("touch ran")], env);
      expect(status).toBe(78);
      expect(stderr).toContain(Object.values(env)[0]);
      expect(stderr).toContain("--locks file:<dir>");
    }
    expect(existsSync(join(holdfast.folder, "ran"))).toBe(false);
  });
});

describe("locks that do not work end with 69, and nothing runs", () => {
  const touch = sh("touch ran");

  test.each([
    ["a directory below a file", "file:file/locks", /file.*not a directory|file\/locks/],
    [
      "a directory bound to the other kind of lock",
      "file:bound?mode=exclusive-create",
      /bound to kernel locks/,
    ],
    ["a lock file that is somebody else's", "file:foreign", /task%3Anightly|task.*nightly/],
  ])("holdfast run cannot take its lock because of %s", async (_what, locks, words) => {
    writeFileSync(join(holdfast.folder, "file"), "");
    for (const [directory, mode] of [
      ["bound", "kernel"],
      ["foreign", "exclusive-create"],
    ] as const) {
      mkdirSync(join(holdfast.folder, directory));
      writeFileSync(join(holdfast.folder, directory, "MODE"), `${mode}\n`);
    }
    writeFileSync(join(holdfast.folder, "foreign", lockFileName("task:nightly")), "4711\n");
    const { status, stdout, stderr } = await holdfast.run(["run", "nightly", "--locks", locks, ...touch]);
    expect(stderr).toMatch(words);
    expect(stderr).toMatch(/^holdfast: /);
    expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
    expect(existsSync(join(holdfast.folder, "ran"))).toBe(false);
  });
});

test("help tells every exit status and shows examples", async () => {
  const { status, stdout } = await holdfast.run(["run", "--help"]);
  expect(status).toBe(0);
  for (const told of [64, 69, 75, 76, 78, 79, 126, 127, 130, 143]) expect(stdout).toContain(` ${told}`);
  expect(stdout).toContain("$ holdfast run nightly-settlement -- ./settle.sh");
});
