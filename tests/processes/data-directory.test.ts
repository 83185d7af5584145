import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli } from "../support/program/holdfast-cli";
import { mount, unmount } from "../support/mounts";
import { describeWithMounts } from "../support/servers/servers";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const alias = () => `sqlite:${join(holdfast.folder, "alias", "holdfast.db")}`;

describe("a SQLite file whose payments are locked in memory", () => {
  test("is had by one process at a time, under whatever name, and the others are told by whom", async () => {
    const first = holdfast.serve();
    const url = await first.url();
    symlinkSync(join(holdfast.folder, "data"), join(holdfast.folder, "alias"));
    for (const args of [
      ["serve", "--port", "0"],
      ["serve", "--port", "0", "--store", alias()],
      ["reconcile"],
      ["expire", "--store", alias()],
      ["migrate"],
    ]) {
      const { status, stdout, stderr } = await holdfast.run(args);
      expect({ args, status, stdout }).toEqual({ args, status: 75, stdout: "" });
      expect(stderr).toMatch(new RegExp(`^holdfast: .*held by pid ${first.pid} .*\\(serve\\)`));
    }
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    // Keys neither move money nor need the file for themselves.
    expect((await holdfast.run(["keys", "list"])).status).toBe(0);
  });

  test.each([["reconcile"], ["expire"], ["migrate"]])(
    "is waited for by %s for as long as it is told to, and no longer",
    async (command) => {
      const first = holdfast.serve();
      await first.url();
      const given = await holdfast.run([command, "--lock-timeout", "1", "--json", "--quiet"]);
      expect(given.status).toBe(75);
      const { error } = JSON.parse(given.stderr) as { error: { waitedMs: number; message: string } };
      expect(error).toMatchObject({ limit: 1, source: "--lock-timeout", scope: "task" });
      expect(error.waitedMs).toBeGreaterThanOrEqual(990);
      expect(error.message).toContain("comes from --lock-timeout; raise it there, or end that process");
      const patient = holdfast.start([command], { HOLDFAST_LOCK_TIMEOUT_TASK: "50" });
      await patient.said(/^holdfast: waiting for .*, held by pid \d+ .*\(serve\); \d+ s left/);
      await first.end("SIGTERM");
      expect((await patient.ended).status).toBe(0);
    },
  );

  test("is not waited for by a second server, however long that waits for payments", async () => {
    await holdfast.serve().url();
    const { status, stderr } = await holdfast.serve("--lock-timeout", "60", "--json").ended;
    expect(status).toBe(75);
    expect(JSON.parse(stderr)).toMatchObject({
      error: { limit: 0, source: "the rule that one process at a time opens this data" },
    });
  });

  test("is free as soon as its process is killed", async () => {
    const first = holdfast.serve();
    await first.url();
    await first.end("SIGKILL");
    expect((await holdfast.run(["reconcile"])).status).toBe(0);
    await holdfast.serve().url();
  });

  test("of snapshots has one server, too, whatever store the other one has", async () => {
    const first = holdfast.serve();
    await first.url();
    const refused = await holdfast.run(["serve", "--port", "0", "--store", "memory:"]);
    expect(refused.status).toBe(75);
    expect(refused.stderr).toMatch(
      new RegExp(`^holdfast: .*snapshots.*held by pid ${first.pid} .*\\(serve\\).*--snapshots file:`),
    );
    await holdfast.serve("--store", "memory:", "--sandbox-limit", "0").url();
  });

  test("of another name is another matter", async () => {
    await holdfast.serve().url();
    const others = ["--store", "sqlite:./data/other.db"];
    await holdfast.serve(...others, "--snapshots", "file:./data/other-snapshots").url();
  });
});

test("a directory in place of the SQLite file is refused as such", async () => {
  const refused = await holdfast.run(["migrate", "--store", `sqlite:${holdfast.folder}`]);
  expect(refused).toMatchObject({ status: 69, stderr: expect.stringContaining("it is not a file") });
});

describe("a SQLite file under another name", () => {
  const data = (...names: string[]) => join(holdfast.folder, "data", ...names);
  const second = ["serve", "--port", "0", "--sandbox-limit", "0"];

  test.each([
    ["the payments", "holdfast.db", ["--store", "sqlite:./other/holdfast.db"]],
    ["the simulated gateway", "holdfast.gateway.db", ["--store", "sqlite:./other/holdfast.db"]],
  ])("is refused where the name is a hard link: %s", async (_what, name, store) => {
    const first = holdfast.serve();
    const url = await first.url();
    mkdirSync(join(holdfast.folder, "other"));
    linkSync(data(name), join(holdfast.folder, "other", name));
    const refused = await holdfast.run([...second, ...store]);
    expect({ status: refused.status, stdout: refused.stdout }).toEqual({ status: 69, stdout: "" });
    expect(refused.stderr).toMatch(/^holdfast: .*2 names \(hard links\).*find -samefile/);
    // Nor may a command that shares the file with its server: its log would be another one.
    if (name === "holdfast.db") expect((await holdfast.run(["keys", "list", ...store])).status).toBe(69);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    rmSync(join(holdfast.folder, "other", name));
    await first.end("SIGTERM");
    expect((await holdfast.run(["reconcile"])).status).toBe(0);
  });

  test("is refused while a server has the file under the name that it had before", async () => {
    await holdfast.serve().url();
    renameSync(data("holdfast.db"), data("renamed.db"));
    const refused = await holdfast.run([...second, "--store", "sqlite:./data/renamed.db"]);
    expect(refused).toMatchObject({ status: 75, stdout: "" });
    expect(refused.stderr).toMatch(/^holdfast: .*renamed\.db is locked.*under another name/);
  });

  test("is refused where the simulated gateway's name is a link to another server's", async () => {
    await holdfast.serve().url();
    mkdirSync(join(holdfast.folder, "other"));
    symlinkSync(data("holdfast.gateway.db"), join(holdfast.folder, "other", "holdfast.gateway.db"));
    const refused = await holdfast.run([...second, "--store", "sqlite:./other/holdfast.db"]);
    expect(refused).toMatchObject({ status: 75, stdout: "" });
    expect(refused.stderr).toMatch(/^holdfast: .*holdfast\.gateway\.db is locked/);
  });

  describeWithMounts("by a mount", () => {
    const mounted = () => join(holdfast.folder, "mounted.db");
    afterEach(() => unmount(mounted()));

    test("of the file itself is refused while a server has the file", async () => {
      const first = holdfast.serve();
      await first.url();
      writeFileSync(mounted(), "");
      mount("--bind", data("holdfast.db"), mounted());
      const refused = await holdfast.run([...second, "--store", "sqlite:./mounted.db"]);
      expect(refused).toMatchObject({ status: 75, stdout: "" });
      expect(refused.stderr).toMatch(/^holdfast: .*mounted\.db is locked.*under another name/);
    });
  });
});

test("with locks that reach other processes, a file may be shared, and a payment is still captured once", async () => {
  const shared = ["--locks", `file:${join(holdfast.folder, "locks")}`];
  // Sandboxes are in one server's memory, so their snapshots are one server's, too.
  const servers = ["one", "other"].map((name) =>
    holdfast.serve(...shared, "--snapshots", `file:${join(holdfast.folder, name)}`),
  );
  const urls = await Promise.all(servers.map((server) => server.url()));
  const post = (url: string, path: string, key: string, body: object) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(body),
    });
  const order = { amount: 500, currency: "EUR", paymentMethod: "tok_ok" };
  const { payment } = (await (await post(urls[0]!, "/payments", "order", order)).json()) as {
    payment: { id: string };
  };
  const captures = await Promise.all(
    Array.from({ length: 40 }, (_, caller) =>
      post(urls[caller % 2]!, `/payments/${payment.id}/capture`, `k${caller % 4}`, {}),
    ),
  );
  expect(captures.map(({ status }) => status).sort()).toEqual([
    ...Array<number>(10).fill(201),
    ...Array<number>(30).fill(409),
  ]);
  const moves = await fetch(`${urls[1]}/gateway/payments/${payment.id}`);
  expect(((await moves.json()) as { moves: { kind: string }[] }).moves.map(({ kind }) => kind)).toEqual([
    "authorize",
    "capture",
  ]);
});
