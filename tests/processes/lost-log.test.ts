import { rmSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli } from "../support/program/holdfast-cli";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const serve = (...more: string[]) => holdfast.serve("--log-level", "fatal", "--sandbox-limit", "0", ...more);

async function call(url: string, method: string, path: string, key?: string, body?: object) {
  const answer = await fetch(url + path, {
    method,
    headers: { "content-type": "application/json", ...(key === undefined ? {} : { "idempotency-key": key }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: await answer.json() };
}

const order = { amount: 500, currency: "EUR", paymentMethod: "tok_ok" };
const remove = (name: string) => rmSync(join(holdfast.folder, "data", name));

/** A server that took some payments and was killed. Returns the ids that it captured. */
async function killed(): Promise<string[]> {
  const server = serve();
  const url = await server.url();
  const captured: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    const { body } = await call(url, "POST", "/payments", `order-${n}`, order);
    const id = body.payment.id as string;
    expect((await call(url, "POST", `/payments/${id}/capture`, "k", {})).status).toBe(201);
    captured.push(id);
  }
  await server.end("SIGKILL");
  return captured;
}

test("a server that was killed starts without a warning, and has what it acknowledged", async () => {
  const [id] = await killed();
  const server = serve();
  const url = await server.url();
  expect((await call(url, "GET", "/readyz")).status).toBe(200);
  expect((await call(url, "GET", `/payments/${id}`)).body).toMatchObject({ payment: { status: "captured" } });
  expect((await server.end("SIGTERM")).stderr).not.toContain("warning");
});

test.each([
  ["the payments'", "holdfast.db", "store"],
  ["the simulated gateway's", "holdfast.gateway.db", "gateway"],
])("once %s log is gone, nothing moves before that is accepted", async (_whose, name, dependency) => {
  await killed();
  remove(`${name}-wal`);
  const blind = serve();
  const url = await blind.url();
  await blind.said(
    new RegExp(`^holdfast: warning: .*${name} was not closed cleanly.* \\d+ commits .*--accept-lost-log`),
  );
  const ready = await call(url, "GET", "/readyz");
  expect(ready).toMatchObject({ status: 503, body: { reasons: { [dependency]: "log_lost" } } });
  expect(ready.body.detail).not.toContain(holdfast.folder);
  expect((await call(url, "GET", "/payments")).status).toBe(200);
  expect(await call(url, "POST", "/payments", "order-0", order)).toMatchObject({
    status: 503,
    body: { code: "service_unavailable" },
  });
  await blind.end("SIGTERM");
  for (const command of [["reconcile"], ["expire"]]) {
    const { status, stderr } = await holdfast.run(command);
    expect({ command, status }).toEqual({ command, status: 69 });
    expect(stderr).toMatch(/^holdfast: .*--accept-lost-log/);
  }
  const accepting = serve("--accept-lost-log");
  const there = await accepting.url();
  await accepting.said(/^holdfast: warning: .*was accepted \(--accept-lost-log\)/);
  expect((await call(there, "GET", "/readyz")).status).toBe(200);
  expect((await call(there, "POST", "/payments", "another-order", order)).status).toBe(201);
  await accepting.end("SIGKILL");
  const after = serve();
  expect((await call(await after.url(), "GET", "/readyz")).status).toBe(200);
  expect((await after.end("SIGTERM")).stderr).not.toContain("warning");
});

test("accepting what is not lost is told: the setting would hide the next loss", async () => {
  const server = serve("--accept-lost-log");
  await server.said(/^holdfast: warning: --accept-lost-log was not needed/);
});
