import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli } from "../support/holdfast-cli";

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
