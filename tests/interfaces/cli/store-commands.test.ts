import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, HoldfastCli } from "../../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();

test("config tells each value and where it comes from, and no secret", async () => {
  writeFileSync(join(holdfast.folder, "holdfast.toml"), 'port = 9001\nhost = "::1"\n');
  const env = { HOLDFAST_PORT: "9002", HOLDFAST_LOCK_TIMEOUT: "7", STRIPE_API_KEY: "sk_test_secret" };
  const { status, stdout, stderr } = await holdfast.run(["config", "--json", "--gateway", "stripe:"], env);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  const entries = JSON.parse(stdout) as { name: string }[];
  const entry = (name: string) => entries.find((one) => one.name === name);
  expect(entry("gateway")).toEqual({ name: "gateway", value: "stripe:", source: "--gateway" });
  expect(entry("port")).toEqual({ name: "port", value: "9002", source: "HOLDFAST_PORT" });
  expect(entry("host")).toEqual({ name: "host", value: "::1", source: "host in holdfast.toml" });
  expect(entry("store")).toEqual({ name: "store", value: "sqlite:./data/holdfast.db", source: "default" });
  expect(entry("lock-timeout.payment")).toMatchObject({ value: "7" });
  expect(entry("stripe-api-key")).toMatchObject({ value: "***" });

  const text = await holdfast.run(["config"], env);
  expect(text.stdout).toMatch(/^port +9002 +\(HOLDFAST_PORT\)$/m);
  expect(stdout + text.stdout + text.stderr).not.toContain("sk_test_secret");
});

test("migrate says from where to where, and the second time that there is nothing to do", async () => {
  mkdirSync(join(holdfast.folder, "data"));
  writeFileSync(join(holdfast.folder, "data", "holdfast.db"), "");
  const { stdout } = await holdfast.run(["migrate", "--json"]);
  const { from, to } = JSON.parse(stdout) as { from: number; to: number };
  expect(from).toBe(0);
  expect(to).toBeGreaterThan(0);
  const again = await holdfast.run(["migrate"]);
  expect(again).toMatchObject({ status: 0, stdout: `the store is at schema version ${to}\n`, stderr: "" });
});

test("a pass over a store in which nothing is due has done nothing", async () => {
  await holdfast.run(["keys", "create", "--merchant", "acme"]);
  const nothing = JSON.stringify({ done: 0, skipped: 0, failed: 0 });
  for (const command of ["reconcile", "expire"]) {
    const pass = await holdfast.run([command, "--json"]);
    expect(pass).toMatchObject({ status: 0, stdout: `${nothing}\n`, stderr: "" });
  }
});

test("reconcile finishes what a killed server left open", async () => {
  const serve = holdfast.serve("--pass-interval", "0");
  const url = await serve.url();
  const post = (path: string, key: string, body: object) =>
    fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "idempotency-key": key },
      body: JSON.stringify(body),
    });
  const order = { amount: 500, currency: "EUR", paymentMethod: "tok_timeout_captured" };
  const authorized = await post("/payments", "order", order);
  const { payment } = (await authorized.json()) as { payment: { id: string } };
  expect((await post(`/payments/${payment.id}/capture`, "capture", {})).status).toBe(202);
  await serve.end("SIGKILL");

  // Due five seconds after it was left; a pass before that has nothing to do.
  const pass = await eventually(
    async () => (await holdfast.run(["reconcile", "--json"])).stdout,
    (stdout) => !stdout.startsWith('{"done":0'),
  );
  expect(JSON.parse(pass)).toEqual({ done: 1, skipped: 0, failed: 0 });
  const next = holdfast.serve("--pass-interval", "0");
  const shown = await fetch(`${await next.url()}/payments/${payment.id}`);
  expect(await shown.json()).toMatchObject({ payment: { status: "captured", amountCaptured: 500 } });
});

describe("keys", () => {
  test("keys are made with a secret that is shown once, listed without it and revoked", async () => {
    const made = await holdfast.run(["keys", "create", "--merchant", "acme", "--name", "checkout"]);
    expect(made.status).toBe(0);
    const secret = made.stdout.trim();
    expect(secret).toMatch(/^hf_\S{32}$/);
    expect(made.stderr).toMatch(/^holdfast: key \S+ of merchant acme/);
    const operator = await holdfast.run([
      ...["keys", "create", "--merchant", "acme", "--operator", "--json", "--quiet"],
    ]);
    expect(operator.stderr).toBe("");
    const { id } = JSON.parse(operator.stdout) as { id: string };

    const revoked = await holdfast.run(["keys", "revoke", id.toUpperCase()]);
    expect(revoked).toMatchObject({ status: 0, stdout: `revoked ${id} of merchant acme\n` });
    const list = await holdfast.run(["keys", "list", "--json"]);
    expect(JSON.parse(list.stdout)).toEqual([
      expect.objectContaining({ name: "checkout", operator: false, revokedAt: null }),
      expect.objectContaining({ id, name: null, operator: true, revokedAt: expect.any(String) as string }),
    ]);
    const table = await holdfast.run(["keys", "list"]);
    expect(table.stdout.split("\n")).toHaveLength(4);
    expect(list.stdout + table.stdout).not.toContain(secret);
  });

  test("keys are noticed by a server that is running, and revoking the last one does not open it again", async () => {
    const url = await holdfast.serve().url();
    const asked = async (secret?: string) =>
      (await fetch(`${url}/payments`, secret ? { headers: { authorization: `Bearer ${secret}` } } : {}))
        .status;
    expect(await asked()).toBe(200);
    const made = await holdfast.run(["keys", "create", "--merchant", "acme", "--json"]);
    const { id, secret } = JSON.parse(made.stdout) as { id: string; secret: string };
    await eventually(asked, (status) => status === 401);
    expect(await asked(secret)).toBe(200);
    await holdfast.run(["keys", "revoke", id]);
    await eventually(
      () => asked(secret),
      (status) => status === 401,
    );
    expect(await asked()).toBe(401);
  });
});
