import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli } from "../support/program/holdfast-cli";
import { mount, unmount } from "../support/mounts";
import { describeWithMounts } from "../support/servers/servers";
import { sample, size } from "../support/test-size";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const alias = () => `sqlite:${join(holdfast.folder, "alias", "holdfast.db")}`;

describe("a SQLite file whose payments are locked in memory", () => {
  test("is had by one process at a time, under whatever name, and the others are told by whom; a killed one does not have it", async () => {
    const first = holdfast.serve();
    const url = await first.url();
    symlinkSync(join(holdfast.folder, "data"), join(holdfast.folder, "alias"));
    // In brief, a server under another name only: each is a process.
    const servers = [
      ["serve", "--port", "0", "--store", alias()],
      ["serve", "--port", "0"],
    ];
    for (const args of [
      ...sample(servers, servers.length),
      ["reconcile"],
      ["expire", "--store", alias()],
      ["migrate"],
    ]) {
      const { status, stdout, stderr } = await holdfast.run(args);
      expect({ args, status, stdout }).toEqual({ args, status: 75, stdout: "" });
      expect(stderr).toMatch(new RegExp(`^holdfast: .*held by pid ${first.pid} .*\\(serve\\)`));
    }
    // A second server does not wait for it, however long that waits for payments.
    const impatient = await holdfast.serve("--lock-timeout", "60", "--json").ended;
    expect(impatient.status).toBe(75);
    expect(JSON.parse(impatient.stderr)).toMatchObject({
      error: { limit: 0, source: "the rule that one process at a time opens this data" },
    });
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    // Keys neither move money nor need the file for themselves.
    expect((await holdfast.run(["keys", "list"])).status).toBe(0);
    await first.end("SIGKILL");
    expect((await holdfast.run(["reconcile"])).status).toBe(0);
    await holdfast.serve().url();
  });

  test("is waited for by reconcile, expire and migrate for as long as they are told to, and no longer", async () => {
    const first = holdfast.serve();
    await first.url();
    const commands = ["reconcile", "expire", "migrate"];
    for (const command of commands) {
      const given = await holdfast.run([command, "--lock-timeout", "1", "--json", "--quiet"]);
      expect([command, given.status]).toEqual([command, 75]);
      const { error } = JSON.parse(given.stderr) as { error: { waitedMs: number; message: string } };
      expect(error).toMatchObject({ limit: 1, source: "--lock-timeout", scope: "task" });
      expect(error.waitedMs).toBeGreaterThanOrEqual(990);
      expect(error.message).toContain("comes from --lock-timeout; raise it there, or end that process");
    }
    const patient = sample(commands, commands.length).map((command) =>
      holdfast.start([command], { HOLDFAST_LOCK_TIMEOUT_TASK: "50" }),
    );
    for (const one of patient)
      await one.said(/^holdfast: waiting for .*, held by pid \d+ .*\(serve\); \d+ s left/);
    await first.end("SIGTERM");
    for (const one of patient) expect((await one.ended).status).toBe(0);
  });

  test("of snapshots has one server, too, whatever store the other one has; of another name is another matter", async () => {
    const first = holdfast.serve();
    await first.url();
    const refused = await holdfast.run(["serve", "--port", "0", "--store", "memory:"]);
    expect(refused.status).toBe(75);
    expect(refused.stderr).toMatch(
      new RegExp(`^holdfast: .*snapshots.*held by pid ${first.pid} .*\\(serve\\).*--snapshots file:`),
    );
    await holdfast.serve("--store", "memory:", "--sandbox-limit", "0").url();
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
  const other = (name: string) => join(holdfast.folder, "other", name);
  const elsewhere = ["--store", "sqlite:./other/holdfast.db"];
  const server = ["serve", "--port", "0", "--sandbox-limit", "0"];
  /** In brief a command where there are payments: it opens the same in the same way, and need not be a process. */
  const second = size(server, ["reconcile"]);

  test("is refused while a server has it: a hard link to the payments or to the simulated gateway, the gateway's own name as a link, and a new name", async () => {
    const first = holdfast.serve();
    const url = await first.url();
    mkdirSync(join(holdfast.folder, "other"));
    for (const name of ["holdfast.db", "holdfast.gateway.db"]) {
      linkSync(data(name), other(name));
      const starting = name === "holdfast.db" ? second : server;
      const refused = await holdfast.run([...starting, ...elsewhere]);
      expect({ name, status: refused.status, stdout: refused.stdout }).toEqual({
        name,
        status: 69,
        stdout: "",
      });
      expect(refused.stderr).toMatch(/^holdfast: .*2 names \(hard links\).*find -samefile/);
      // Nor may a command that shares the file with its server: its log would be another one.
      if (name === "holdfast.db")
        expect((await holdfast.run(["keys", "list", ...elsewhere])).status).toBe(69);
      rmSync(join(holdfast.folder, "other"), { recursive: true });
      mkdirSync(join(holdfast.folder, "other"));
    }
    symlinkSync(data("holdfast.gateway.db"), other("holdfast.gateway.db"));
    const linked = await holdfast.run([...server, ...elsewhere]);
    expect(linked).toMatchObject({ status: 75, stdout: "" });
    expect(linked.stderr).toMatch(/^holdfast: .*holdfast\.gateway\.db is locked/);

    expect((await fetch(`${url}/readyz`)).status).toBe(200);
    renameSync(data("holdfast.db"), data("renamed.db"));
    const renamed = await holdfast.run([...second, "--store", "sqlite:./data/renamed.db"]);
    expect(renamed).toMatchObject({ status: 75, stdout: "" });
    expect(renamed.stderr).toMatch(/^holdfast: .*renamed\.db is locked.*under another name/);
    renameSync(data("renamed.db"), data("holdfast.db"));
    await first.end("SIGTERM");
    expect((await holdfast.run(["reconcile"])).status).toBe(0);
  });

  describeWithMounts("by a mount", () => {
    const mounted = () => join(holdfast.folder, "mounted.db");
    afterEach(() => unmount(mounted()));

    test("of the file itself is refused while a server has the file", async () => {
      await holdfast.serve().url();
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
