import { rmSync } from "node:fs";
import { join } from "node:path";
import { HoldfastCli } from "../support/program/holdfast-cli";
import { testAtFullSize } from "../support/servers/servers";

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

/** Authorizes and captures some. Returns their ids. */
async function captured(url: string, name: string): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1) {
    const { body } = await call(url, "POST", "/payments", `${name}-${n}`, order);
    const id = body.payment.id as string;
    expect((await call(url, "POST", `/payments/${id}/capture`, "k", {})).status).toBe(201);
    ids.push(id);
  }
  return ids;
}

/** Of a server that was killed when it had done more. */
async function expectNothingBeforeItIsAccepted(name: string, dependency: string): Promise<void> {
  remove(`${name}-wal`);
  const blind = serve();
  const url = await blind.url();
  await blind.said(
    new RegExp(`^holdfast: warning: .*${name} was not closed cleanly.* \\d+ commits .*--accept-lost-log`),
  );
  const ready = await call(url, "GET", "/readyz");
  expect([ready.status, ready.body.reasons]).toEqual([503, { [dependency]: "log_lost" }]);
  expect(ready.body.detail).not.toContain(holdfast.folder);
  expect((await call(url, "GET", "/payments")).status).toBe(200);
  expect(await call(url, "POST", "/payments", "in-the-dark", order)).toMatchObject({
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
  await captured(there, `after the loss of ${dependency}`.replaceAll(" ", "-"));
  await accepting.end("SIGKILL");
}

testAtFullSize(
  "a server that was killed starts without a warning, and has what it acknowledged; once a log is gone, the payments' or the simulated gateway's, nothing moves before that is accepted",
  async () => {
    const first = serve();
    const [id] = await captured(await first.url(), "first");
    await first.end("SIGKILL");
    const second = serve();
    const url = await second.url();
    expect((await call(url, "GET", "/readyz")).status).toBe(200);
    expect((await call(url, "GET", `/payments/${id}`)).body).toMatchObject({
      payment: { status: "captured" },
    });
    await captured(url, "second");
    expect((await second.end("SIGKILL")).stderr).not.toContain("warning");

    await expectNothingBeforeItIsAccepted("holdfast.db", "store");
    // Where it was accepted, it is not a loss any more.
    await expectNothingBeforeItIsAccepted("holdfast.gateway.db", "gateway");
    const after = serve();
    expect((await call(await after.url(), "GET", "/readyz")).status).toBe(200);
    expect((await after.end("SIGTERM")).stderr).not.toContain("warning");
  },
);

test("accepting what is not lost is told: the setting would hide the next loss", async () => {
  const server = serve("--accept-lost-log");
  await server.said(/^holdfast: warning: --accept-lost-log was not needed/);
});
