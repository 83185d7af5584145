import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { eventually, HoldfastCli, untilEnded } from "../../../support/program/holdfast-cli";
import type { RunningProgram } from "../../../support/program/running-program";
import { size } from "../../../support/test-size";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const STAY = ["--", ...untilEnded];
const TOUCH = ["--", "touch", "ran"];

describe.each([
  ["kernel", "file:locks"],
  ["exclusive-create", "file:locks?mode=exclusive-create"],
])("in %s mode", (_mode, locks) => {
  const run = (task: string, ...more: string[]) => ["run", task, "--locks", locks, ...more];
  const lockFile = () =>
    join(
      holdfast.folder,
      "locks",
      readdirSync(join(holdfast.folder, "locks")).find((name) => /nightly.*\.lock$/.test(name))!,
    );

  async function startHolder(): Promise<RunningProgram> {
    const holder = holdfast.start(run("nightly", ...STAY));
    await holder.said(/running/);
    await eventually(
      async () => readFileSync(lockFile(), "utf8"),
      (record) => /"childPid":\d/.test(record),
    );
    return holder;
  }

  test("who comes second is told by whom, since when, for what, in which file, and ends with 75", async () => {
    const holder = await startHolder();
    const { status, stdout, stderr } = await holdfast.run(run("nightly", ...TOUCH));
    expect({ status, stdout }).toEqual({ status: 75, stdout: "" });
    expect(stderr).toContain(`holdfast: task:nightly is locked, held by pid ${holder.pid} on ${hostname()}`);
    expect(stderr).toMatch(/\(sh -c echo "?running .*\) since \d{4}-\d\d-\d\dT/);
    expect(stderr).toContain("--lock-timeout <seconds|infinite>");
    expect(stderr).toContain(lockFile());
    expect(readdirSync(holdfast.folder)).not.toContain("ran");
    // Another task is nobody's business.
    expect((await holdfast.run(run("hourly", ...TOUCH))).status).toBe(0);
  });

  test("programs read the same facts as one object on stderr", async () => {
    const holder = await startHolder();
    const { status, stdout, stderr } = await holdfast.run(run("nightly", "--json", ...TOUCH));
    expect({ status, stdout }).toEqual({ status: 75, stdout: "" });
    expect(JSON.parse(stderr)).toEqual({
      error: {
        code: "lock_timeout",
        resourceId: "task:nightly",
        waitedMs: expect.any(Number) as number,
        limit: 0,
        source: 'built-in default of scope "task"',
        scope: "task",
        message: expect.stringContaining("is locked") as string,
        holder: expect.objectContaining({ pid: holder.pid, host: hostname() }) as object,
      },
    });
  });

  test("who waits long enough comes next", async () => {
    const holder = await startHolder();
    const waiter = holdfast.start(run("nightly", "--lock-timeout", "infinite", ...TOUCH));
    await waiter.said(/waiting for task:nightly, held by pid \d+ on .*; no limit, Ctrl-C to stop/);
    await holder.end("SIGTERM");
    expect((await waiter.ended).status).toBe(0);
    expect(readdirSync(holdfast.folder)).toContain("ran");
  });

  test("who waits in vain is told how long it was and ends with 75; --quiet tells only that", async () => {
    await startHolder();
    const [plain, quiet] = await Promise.all([
      holdfast.run(run("nightly", "--lock-timeout", "1", ...TOUCH)),
      holdfast.run(run("nightly", "--lock-timeout", "1", "--quiet", ...TOUCH)),
    ]);
    expect([plain.status, quiet.status]).toEqual([75, 75]);
    expect(plain.stderr).toMatch(
      /^holdfast: waiting for task:nightly, held by .*; 1 s left.*\nholdfast: waited /,
    );
    expect(quiet.stderr).toMatch(/^holdfast: waited 1(\.\d)? s for task:nightly, held by pid.*$/);
  });

  test("signals while waiting end with 128 and their number, or as SIGINT does, and leave nothing behind", async () => {
    await startHolder();
    const before = readdirSync(join(holdfast.folder, "locks")).sort();
    const record = readFileSync(lockFile(), "utf8");
    const signals = [
      ["SIGTERM", { status: 143, signal: null }],
      ["SIGHUP", { status: 129, signal: null }],
      ["SIGQUIT", { status: 131, signal: null }],
      ["SIGINT", { status: null, signal: "SIGINT" }],
    ] as const;
    for (const [signal, expected] of signals) {
      const waiter = holdfast.start(run("nightly", "--lock-timeout", "60", ...TOUCH));
      await waiter.said(/waiting/);
      const ended = await waiter.end(signal);
      expect(ended).toMatchObject({ ...expected, stdout: "" });
      expect(ended.stderr).toContain("holdfast: stopped waiting for task:nightly");
    }
    expect(readdirSync(join(holdfast.folder, "locks")).sort()).toEqual(before);
    expect(readFileSync(lockFile(), "utf8")).toBe(record);
    expect(readdirSync(holdfast.folder)).not.toContain("ran");
  });

  test("a lock whose holder was killed with its command is taken by the next one", async () => {
    const holder = await startHolder();
    // Its command ends when it misses its wrapper, a moment later.
    await holder.end("SIGKILL");
    expect((await holdfast.run(run("nightly", "--lock-timeout", "20", ...TOUCH))).status).toBe(0);
  });

  test("several of them increment one counter at once, and nothing is lost", async () => {
    const many = size(10, 3);
    const counter = join(holdfast.folder, "counter");
    writeFileSync(counter, "0\n");
    const increment = ["--", "sh", "-c", "n=$(cat counter); echo $((n + 1)) > counter"];
    const ended = await Promise.all(
      Array.from({ length: many }, () =>
        holdfast.run(run("count", "--quiet", "--lock-timeout", "50", ...increment)),
      ),
    );
    expect(ended.map(({ status, stderr }) => ({ status, stderr }))).toEqual(
      Array.from({ length: many }, () => ({ status: 0, stderr: "" })),
    );
    expect(readFileSync(counter, "utf8")).toBe(`${many}\n`);
  });
});

describe("the limit of the wait", () => {
  const run = (...more: string[]) => ["run", "nightly", "--locks", "file:locks", ...more, ...TOUCH];

  test("the limit of the wait is the flag's, else the environment's, else the scope's in the file, else the file's, else the scope's own", async () => {
    const holder = holdfast.start(["run", "nightly", "--locks", "file:locks", ...STAY]);
    await holder.said(/running/);
    const sourceOf = async (flags: string[], env: NodeJS.ProcessEnv = {}) =>
      /the limit of (.*?) comes from (.*?);/.exec((await holdfast.run(run(...flags), env)).stderr)?.slice(1);

    // From the weakest to the strongest, each beside all that it outranks.
    const general = "[locking]\ntimeout = 1\n";
    writeFileSync(join(holdfast.folder, "general.toml"), general);
    writeFileSync(join(holdfast.folder, "scoped.toml"), `${general}[locking.scopes]\ntask = 0\n`);
    const scoped = ["--config", "scoped.toml"];
    const environment = { HOLDFAST_LOCK_TIMEOUT: "1" };
    expect([
      await sourceOf([]),
      await sourceOf(["--config", "general.toml"]),
      await sourceOf(scoped),
      await sourceOf(scoped, environment),
      await sourceOf([...scoped, "--lock-timeout", "0"], environment),
    ]).toEqual([
      ["0 s", 'built-in default of scope "task"'],
      ["1 s", "[locking] timeout in general.toml"],
      ["0 s", "[locking.scopes] task in scoped.toml"],
      ["1 s", "HOLDFAST_LOCK_TIMEOUT"],
      ["0 s", "--lock-timeout"],
    ]);
  });

  test("the limit of the wait is advised on where it comes from, and not where that is outranked", async () => {
    const holder = holdfast.start(["run", "nightly", "--locks", "file:locks", ...STAY]);
    await holder.said(/running/);
    const advice = async (flags: string[], env: NodeJS.ProcessEnv = {}) =>
      /comes from .*?; (.*?), or end that process/.exec((await holdfast.run(run(...flags), env)).stderr)?.[1];
    expect([
      await advice([]),
      await advice([], { HOLDFAST_LOCK_TIMEOUT_TASK: "0" }),
      await advice(["--lock-timeout", "0"]),
    ]).toEqual([
      "wait longer with --lock-timeout <seconds|infinite>, HOLDFAST_LOCK_TIMEOUT or [locking] timeout",
      "raise it there or with --lock-timeout <seconds|infinite>",
      "raise it there",
    ]);
  });

  test("the limit of the wait as junk ends with 78, each piece of it with its source", async () => {
    const file = '[locking]\ntimeout = -1\n[locking.scopes]\ntask = "soon"\n';
    writeFileSync(join(holdfast.folder, "holdfast.toml"), file);
    const inFile = await holdfast.run(run());
    const inEnvironment = await holdfast.run(run(), { HOLDFAST_LOCK_TIMEOUT: "1.5" });
    expect([inFile.status, inEnvironment.status]).toEqual([78, 78]);
    expect(inFile.stderr).toContain("holdfast: [locking] timeout in holdfast.toml ");
    expect(inFile.stderr).toContain("holdfast: [locking.scopes] task in holdfast.toml ");
    expect(inEnvironment.stderr).toMatch(/^holdfast: HOLDFAST_LOCK_TIMEOUT /);
  });
});
