import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lockFileName } from "../../../src/infrastructure/locking/file/on-disk/lock-file-name";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";
import { eventually, HoldfastCli, untilEnded } from "../../support/program/holdfast-cli";
import { freePort } from "../../support/servers/own-process";
import type { RunningProgram } from "../../support/program/running-program";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();

interface ShownLock {
  readonly resourceId: string;
  readonly state: string;
  readonly where: string;
  readonly holder?: { readonly ownerId: string; readonly pid: number; readonly purpose: string };
  readonly waitingOwnerId?: string;
  readonly processes?: readonly number[];
  readonly fencingToken?: string;
  readonly expiresAt?: string;
  readonly remark?: string;
}

/** `holdfast locks` and `holdfast run` on the same locks. */
const on = (url: string, env: NodeJS.ProcessEnv = {}) => {
  const locks = (...args: string[]) => holdfast.run(["locks", ...args, "--locks", url], env);
  const start = (task: string, ...more: string[]) =>
    holdfast.start(["run", task, "--locks", url, ...more, "--", ...untilEnded], env);
  return {
    locks,
    start,
    json: async <T>(...args: string[]) => JSON.parse((await locks(...args, "--json")).stdout) as T,
    hold: async (task: string): Promise<{ holder: RunningProgram; command: number }> => {
      const holder = start(task);
      const command = Number((await holder.said(/^running (\d+)$/))[1]);
      return { holder, command };
    },
  };
};

describe("locks of the kernel", () => {
  const { locks, json, hold } = on("file:locks");

  test("nothing is there at first, and looking makes nothing", async () => {
    expect(await locks("list")).toMatchObject({ status: 0, stdout: "no locks\n", stderr: "" });
    expect(await locks("show", "task:nightly")).toMatchObject({
      status: 0,
      stdout: "task:nightly is free, and nothing is recorded about it\n",
    });
    // Where nobody says otherwise, too.
    expect(await holdfast.run(["locks", "list"])).toMatchObject({ status: 0, stdout: "no locks\n" });
    expect(readdirSync(holdfast.folder)).toEqual([]);
  });

  test("held and free ones are told apart, although the file of each names a holder", async () => {
    const { holder, command } = await hold("nightly");
    const { holder: last } = await hold("hourly");
    await last.end("SIGTERM");
    const found = await json<ShownLock[]>("list");
    expect(found).toMatchObject([
      { resourceId: "task:hourly", state: "free", holder: { pid: last.pid } },
      {
        resourceId: "task:nightly",
        state: "held",
        holder: { pid: holder.pid },
        where: join(holdfast.folder, "locks", lockFileName("task:nightly")),
      },
    ]);
    expect(found[1]?.processes).toEqual(expect.arrayContaining([holder.pid, command]));

    const { stdout } = await locks("list");
    expect(stdout).toMatch(/^LOCK +STATE +HOLDER +WAITING +WHERE\n/);
    expect(stdout).toMatch(new RegExp(`task:nightly +held +pid ${holder.pid} on `));
    expect(stdout).toMatch(new RegExp(`task:hourly +free +last pid ${last.pid} on `));
    expect((await locks("show", "task:nightly")).stdout).toMatch(/^state +held$/m);
  });

  test("one cannot be broken: its processes are named, and the status is 64", async () => {
    const { holder, command } = await hold("nightly");
    const { holder: holds } = await json<ShownLock>("show", "task:nightly");
    const { status, stdout, stderr } = await locks("break", "task:nightly", "--if-held-by", holds!.ownerId);
    expect({ status, stdout }).toEqual({ status: 64, stdout: "" });
    expect(stderr).toContain("end process ");
    for (const pid of [holder.pid, command]) expect(stderr).toContain(String(pid));
    expect((await json<ShownLock>("show", "task:nightly")).state).toBe("held");
  });

  test("sweeping removes no file: one that is unlinked could be locked by two", async () => {
    const { holder } = await hold("nightly");
    await holder.end("SIGTERM");
    const before = readdirSync(join(holdfast.folder, "locks"));
    expect(await locks("sweep")).toMatchObject({ status: 0, stdout: "nothing to sweep\n" });
    expect(readdirSync(join(holdfast.folder, "locks"))).toEqual(before);
  });
});

describe("exclusive-create locks", () => {
  const { locks, json, hold } = on("file:locks?mode=exclusive-create");
  const folder = () => join(holdfast.folder, "locks");

  test("held, abandoned and foreign ones are told apart", async () => {
    const { holder } = await hold("nightly");
    const { holder: killed } = await hold("hourly");
    await killed.end("SIGKILL");
    writeFileSync(join(folder(), lockFileName("task:other")), "4711\n");
    const states = async () =>
      (await json<ShownLock[]>("list")).map(({ resourceId, state }) => [resourceId, state]);
    expect(await eventually(states, (found) => found.some(([, state]) => state === "abandoned"))).toEqual([
      ["task:hourly", "abandoned"],
      ["task:nightly", "held"],
      ["task:other", "unknown"],
    ]);
    expect(await json<ShownLock>("show", "task:nightly")).toMatchObject({
      holder: { pid: holder.pid, purpose: expect.stringMatching(/^sh -c/) as string },
      remark: "exclusive-create mode",
    });
  });

  test("one is broken only if the one who is named holds it; a line is left, and the old holder learns of it", async () => {
    const { holder } = await hold("nightly");
    const { holder: holds } = await json<ShownLock>("show", "task:nightly");
    const held = await locks("break", "task:nightly", "--if-held-by", "web-2:1:else");
    expect([held.status, held.stderr]).toEqual([
      1,
      `holdfast: task:nightly is held by ${holds!.ownerId} now: nothing was changed`,
    ]);
    expect(readdirSync(folder())).not.toContain("AUDIT");

    const broken = await locks("break", "task:nightly", "--if-held-by", holds!.ownerId);
    expect(broken.status).toBe(0);
    expect(broken.stderr).toContain(
      "if that holder is still alive, it believes that it has the lock until its next check",
    );
    expect(broken.stdout).toContain(`broke task:nightly, which was held by ${holds!.ownerId}`);
    expect(JSON.parse(readFileSync(join(folder(), "AUDIT"), "utf8"))).toMatchObject({
      action: "break",
      resourceId: "task:nightly",
      ownerId: holds!.ownerId,
    });
    expect((await holder.ended).status).toBe(79);

    const again = await locks("break", "task:nightly", "--if-held-by", holds!.ownerId);
    expect([again.status, again.stderr]).toEqual([
      1,
      "holdfast: task:nightly is not held: there is nothing to break",
    ]);
  });

  test("without a name nothing is broken, and somebody else's file is refused", async () => {
    const nameless = await locks("break", "task:nightly");
    expect([nameless.status, nameless.stderr]).toEqual([
      64,
      expect.stringContaining("--if-held-by <ownerId>"),
    ]);
    mkdirSync(folder());
    writeFileSync(join(folder(), "MODE"), "exclusive-create\n");
    writeFileSync(join(folder(), lockFileName("task:other")), "4711\n");
    const foreign = await locks("break", "task:other", "--if-held-by", "4711");
    expect([foreign.status, foreign.stderr]).toEqual([69, expect.stringContaining("task.other.lock")]);
  });
});

describe("a lock service that is not reached", () => {
  test.each([
    ["Redis", (port: number) => [`redis://127.0.0.1:${port}`, undefined] as const],
    ["PostgreSQL", (port: number) => [`postgres://u@127.0.0.1:${port}/d`, undefined] as const],
    ["a bucket", (port: number) => ["gs://locks/jobs", `http://127.0.0.1:${port}`] as const],
  ])("%s: 69 and a sentence, whatever was asked", async (_what, at) => {
    const [url, emulator] = at(await freePort());
    const { locks } = on(url, { STORAGE_EMULATOR_HOST: emulator });
    const asked = [["list"], ["show", "task:a"], ["sweep"], ["break", "task:a", "--if-held-by", "x"]];
    const answers = await Promise.all([
      ...asked.map((args) => locks(...args)),
      holdfast.run(["run", "a", "--locks", url, "--", "true"], { STORAGE_EMULATOR_HOST: emulator }),
    ]);
    for (const { status, stdout, stderr } of answers) {
      expect({ status, stdout }).toEqual({ status: 69, stdout: "" });
      expect(stderr).toMatch(/ECONNREFUSED|no answer/);
      for (const line of stderr.split("\n")) expect(line).toMatch(/^holdfast: \S/);
    }
  });
});

describe("leases in a bucket", () => {
  let standIn: GcsStandIn;
  let nowMs: number;
  beforeEach(async () => {
    nowMs = Date.now();
    const startedMs = nowMs;
    standIn = await GcsStandIn.start({ buckets: ["locks"], now: () => nowMs + (Date.now() - startedMs) });
  });
  afterEach(() => standIn.close());
  const bucket = () => on("gs://locks/jobs", { STORAGE_EMULATOR_HOST: standIn.url });
  const put = (id: string, content: string) =>
    standIn.state.insert("locks", `jobs/${id}.json`, Buffer.from(content), {
      contentType: "application/json",
    });

  test("who holds and who waits, until when and with which token", async () => {
    const { json, hold, start, locks } = bucket();
    const { holder } = await hold("nightly");
    const waiter = start("nightly", "--lock-timeout", "60");
    const shown = await eventually(
      () => json<ShownLock>("show", "task:nightly"),
      ({ waitingOwnerId }) => waitingOwnerId !== undefined,
    );
    expect(shown).toMatchObject({ state: "held", holder: { pid: holder.pid } });
    expect(shown.waitingOwnerId).toContain(`:${waiter.pid}:`);
    expect(shown.fencingToken).toMatch(/^\d+$/);
    expect(Date.parse(shown.expiresAt!)).toBeGreaterThan(Date.now());
    expect((await locks("list")).stdout).toContain(shown.waitingOwnerId);
    await waiter.end("SIGTERM");
    await holder.end("SIGTERM");
    expect(await json<ShownLock[]>("list")).toMatchObject([{ resourceId: "task:nightly", state: "free" }]);
  });

  test("what nobody here can judge is unknown", async () => {
    const { json, locks } = bucket();
    put("task:a", "no record");
    put("task:b", JSON.stringify({ ownerId: "somebody", expiresAt: 1 }));
    expect(await json<ShownLock[]>("list")).toMatchObject([
      {
        resourceId: "task:a",
        state: "unknown",
        remark: expect.stringContaining("not a lease record") as string,
      },
      { resourceId: "task:b", state: "unknown", remark: "written by another implementation" },
    ]);
    const refused = await locks("break", "task:a", "--if-held-by", "x");
    expect([refused.status, refused.stderr]).toEqual([
      69,
      expect.stringMatching(/^holdfast: .*lease record/),
    ]);
  });

  test("what others wrote about themselves stays a line of text, and says nothing to the terminal", async () => {
    const holder = { host: "web\u001b[31m", pid: 3, operation: "one\ntwo", since: 1 };
    const held = { ownerId: "x\u0007", ttlMs: 30_000, renewSeq: 0, fence: 1, holder };
    put("task:a", JSON.stringify({ ...held, waitingOwnerId: "y\u001b[2J\nz", waiterExpiresAt: 1 }));
    const { locks } = bucket();
    const refused = await holdfast.run(["run", "a", "--locks", "gs://locks/jobs", "--", "true"], {
      STORAGE_EMULATOR_HOST: standIn.url,
    });
    for (const text of [refused.stderr, (await locks("list")).stdout]) {
      expect(text).toMatch(/pid 3 on web \[31m \(one two\)/);
      expect(text).toMatch(/y \[2J z/);
      expect(text).not.toMatch(/(?!\n)\p{Cc}/u);
    }
    expect((await locks("show", "task:a")).stdout).not.toMatch(/(?!\n)\p{Cc}/u);
  });

  test("one is broken only if the one who is named holds it, and a line is left in the state directory", async () => {
    const { json, hold, locks } = bucket();
    await hold("nightly");
    const { holder: holds } = await json<ShownLock>("show", "task:nightly");
    expect((await locks("break", "task:nightly", "--if-held-by", "else")).status).toBe(1);
    const broken = await locks("break", "task:nightly", "--if-held-by", holds!.ownerId);
    expect(broken.status).toBe(0);
    expect(broken.stderr).toMatch(
      /it believes that it has the lock until its next check: a lease is checked when it is renewed \(every 10 s/,
    );
    const audit = readFileSync(join(holdfast.folder, ".local", "state", "holdfast", "audit.log"), "utf8");
    expect(audit.trimEnd().split("\n")).toHaveLength(1);
    expect(JSON.parse(audit)).toMatchObject({ action: "break", ownerId: holds!.ownerId });
    expect((await json<ShownLock>("show", "task:nightly")).state).toBe("free");
  });

  test("sweeping removes what was idle for a day, and nothing younger", async () => {
    const { locks } = bucket();
    const free = { ownerId: null, expiresAt: 0, waitingOwnerId: null, waiterExpiresAt: null };
    const record = JSON.stringify({
      ...free,
      ttlMs: 30_000,
      renewSeq: 1,
      fence: 1,
      ownerAgeMs: 0,
      holder: null,
    });
    put("task:old", record);
    nowMs += 86_400_000;
    put("task:young", record);
    nowMs += 10_000;
    expect(await locks("sweep", "--json")).toMatchObject({ status: 0, stdout: '{"swept":["task:old"]}\n' });
    expect([...standIn.state.objectsOf("locks").keys()]).toEqual(["jobs/task:young.json"]);
  });
});

test("locks that cannot be looked at from outside are refused in words", async () => {
  const { status, stderr } = await on("memory:").locks("list");
  expect([status, stderr]).toEqual([64, expect.stringMatching(/^holdfast: --locks is memory:/)]);
});

test.each([
  [["locks"]],
  [["locks", "list"]],
  [["locks", "show"]],
  [["locks", "break"]],
  [["locks", "sweep"]],
])("help on %j ends with 0 and shows an example", async (command) => {
  const { status, stdout } = await holdfast.run([...command, "--help"]);
  expect(status).toBe(0);
  expect(stdout).toContain("$ holdfast locks ");
});
