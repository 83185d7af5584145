import { Registry } from "prom-client";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { SandboxInstances, unknownId, type SandboxInstance } from "../../support/worlds/sandbox-instances";
import { HttpWorld, type HttpAnswer } from "../../support/worlds/http-world";

let instances: SandboxInstances;
let a: SandboxInstance;
let b: SandboxInstance;
let http: HttpWorld;
let keys = 0;

beforeEach(async () => {
  instances = new SandboxInstances();
  a = instances.instance("a", { sandboxes: 4, keptSnapshots: 3 }, { maxPayments: 3 });
  b = instances.instance("b");
  http = await new HttpWorld({ app: { sandboxes: a.sandboxes, metrics: new Registry() } }).open();
});

afterEach(async () => {
  await http.close();
  await instances.close();
});

const order = { amount: 1_250, currency: "EUR", paymentMethod: "tok_ok", expiresIn: 3_600 };
const post = (path: string, body?: unknown, key = `k${(keys += 1)}`): Promise<HttpAnswer> =>
  http.call("POST", path, { body, headers: { "idempotency-key": key } });
const problem = ({ status, body }: HttpAnswer) => ({ status, code: body.code });

const typesOf = (events: { type: string }[]) => events.map(({ type }) => type);

async function created(body?: unknown): Promise<string> {
  const answer = await post("/sandboxes", body);
  expect(answer.status).toBe(201);
  expect(answer.headers.get("location")).toBe(`/sandboxes/${answer.body.sandbox.id}`);
  return answer.body.sandbox.id as string;
}

async function authorized(sandbox: string, more: object = {}): Promise<string> {
  const { status, headers, body } = await post(`/sandboxes/${sandbox}/payments`, { ...order, ...more });
  expect(status).toBe(201);
  expect(headers.get("location")).toBe(`/sandboxes/${sandbox}/payments/${body.payment.id}`);
  return body.payment.id as string;
}

test("a sandbox has the payments routes, and nothing of it is live", async () => {
  const sandbox = await created();
  const id = await authorized(sandbox);
  const path = `/sandboxes/${sandbox}/payments/${id}`;
  const captured = await post(`${path}/capture`, { amount: 1_000 }, "once");
  expect(captured.body).toMatchObject({ capture: { status: "succeeded" }, payment: { status: "captured" } });
  const again = await post(`${path}/capture`, { amount: 1_000 }, "once");
  expect(again.headers.get("idempotency-replayed")).toBe("true");
  expect((await post(`${path}/refunds`, { amount: 400 })).status).toBe(201);
  const many = [await authorized(sandbox), id].map((paymentId) => ({
    paymentId,
    idempotencyKey: "one-of-many",
  }));
  const results = await http.call("POST", `/sandboxes/${sandbox}/captures`, { body: { captures: many } });
  expect(results.body.results).toMatchObject([
    { status: 201, body: { payment: { status: "captured" } } },
    { status: 409, body: { code: "payment_already_captured" } },
  ]);
  const other = await authorized(sandbox);
  expect((await post(`/sandboxes/${sandbox}/payments/${other}/void`, {})).status).toBe(201);
  expect((await http.get(`/sandboxes/${sandbox}/payments?status=voided`)).body.data).toHaveLength(1);
  expect((await http.get(`${path}/events`)).body.data.length).toBeGreaterThan(3);

  expect((await http.get("/payments")).body.data).toEqual([]);
  expect(problem(await http.get(`/payments/${id}`))).toEqual({ status: 404, code: "payment_not_found" });
  expect((await http.get(`/gateway/payments/${id}`)).body.moves).toEqual([]);
  const live = await http.authorize();
  expect(problem(await http.get(`/sandboxes/${sandbox}/payments/${live}`))).toEqual({
    status: 404,
    code: "payment_not_found",
  });
});

test("a sandbox's payments are observed as live ones are, by their merchant", async () => {
  http.keys.add("key-of-acme", "acme");
  http.keys.add("key-of-zoo", "zoo");
  const as = (key: string) => ({ authorization: `Bearer ${key}` });
  const send = (path: string, body: object, key = "key-of-acme") =>
    http.call("POST", path, { body, headers: { ...as(key), "idempotency-key": `k${(keys += 1)}` } });
  const sandbox = (await send("/sandboxes", {})).body.sandbox.id as string;
  const made = await send(`/sandboxes/${sandbox}/payments`, {
    ...order,
    paymentMethod: "tok_captured_elsewhere_0",
  });
  const id = made.body.payment.id as string;
  const observe = `/sandboxes/${sandbox}/gateway/payments/${id}/observe`;
  const observed = await send(observe, {});
  expect(observed.status).toBe(200);
  expect(observed.body).toMatchObject({
    operations: [{ kind: "authorize" }, { kind: "capture", notAsked: "made_elsewhere" }],
    payment: { status: "captured" },
    picture: { answer: "seen" },
    nextCursor: null,
  });
  const shown = await http.call("GET", `/sandboxes/${sandbox}/payments/${id}`, {
    headers: as("key-of-acme"),
  });
  expect(shown.body.payment.status).toBe("captured");
  expect(problem(await send(observe, {}, "key-of-zoo"))).toEqual({ status: 404, code: "sandbox_not_found" });
  const live = await send(`/gateway/payments/${id}/observe`, {});
  expect(problem(live)).toEqual({ status: 403, code: "operator_key_required" });
});

test("its requests are counted by route, whatever ids they name", async () => {
  const sandbox = await created();
  await http.get(`/sandboxes/${sandbox}/payments/${await authorized(sandbox)}`);
  const { body } = await http.get("/metrics");
  expect(body).toContain('route="/sandboxes/:sandboxId/payments/:paymentId",status="200"} 1');
  expect(body).not.toContain(sandbox);
});

test("what its gateway decides later is decided by its clock, also in a copy of a snapshot that was taken meanwhile", async () => {
  const sandbox = await created();
  const capturing = await authorized(sandbox, { paymentMethod: "tok_capture_pending", expiresIn: 86_400 });
  const refunding = await authorized(sandbox, { paymentMethod: "tok_refund_pending_then_failed" });
  const pathOf = (id: string, of = sandbox) => `/sandboxes/${of}/payments/${id}`;
  expect((await post(`${pathOf(capturing)}/capture`, {})).body.capture.status).toBe("pending");
  expect((await post(`${pathOf(refunding)}/capture`, {})).status).toBe(201);
  expect((await post(`${pathOf(refunding)}/refunds`, {})).body.refund.status).toBe("pending");

  const { body } = await post(`/sandboxes/${sandbox}/checkpoint`);
  const copy = await created({ fromSnapshot: body.snapshot.id });
  for (const of of [sandbox, copy]) {
    expect((await http.get(pathOf(refunding, of))).body.payment.refunds[0].status).toBe("pending");
    await post(`/sandboxes/${of}/clock`, { advanceSeconds: 3_900 });
    expect((await http.get(pathOf(capturing, of))).body.payment.status).toBe("captured");
    const { payment } = (await http.get(pathOf(refunding, of))).body;
    expect(payment).toMatchObject({ amountRefunded: 0, refunds: [{ status: "failed" }] });
    const { data } = (await http.get(`/sandboxes/${of}/events?limit=100`)).body;
    const told = typesOf(data);
    expect(told.filter((type) => type === "operation.pending")).toHaveLength(2);
    expect(told).toContain("refund.failed");
  }
});

test("its clock stands still, goes forward only, and past expiresAt a capture is told so at once", async () => {
  const sandbox = await created();
  const [early, late] = [await authorized(sandbox), await authorized(sandbox, { expiresIn: 7_200 })];
  const before = (await http.get(`/sandboxes/${sandbox}`)).body.sandbox.clock as string;
  await instances.pass(10_000);
  expect((await http.get(`/sandboxes/${sandbox}`)).body.sandbox.clock).toBe(before);

  const moved = await post(`/sandboxes/${sandbox}/clock`, { advanceSeconds: 3_600 });
  expect(Date.parse(moved.body.sandbox.clock as string) - Date.parse(before)).toBe(3_600_000);
  expect(problem(await post(`/sandboxes/${sandbox}/payments/${early}/capture`, {}))).toEqual({
    status: 409,
    code: "payment_expired",
  });
  // By the sweeper, at its instant, and the money is released.
  expect((await http.get(`/sandboxes/${sandbox}/payments/${early}`)).body.payment.status).toBe("expired");
  const { data } = (await http.get(`/sandboxes/${sandbox}/payments/${early}/events`)).body;
  const types = typesOf(data);
  expect(types.slice(types.indexOf("payment.expired"))).toEqual([
    "payment.expired",
    "void.started",
    "void.resent",
    "void.succeeded",
  ]);
  expect((await post(`/sandboxes/${sandbox}/payments/${late}/capture`, {})).status).toBe(201);

  for (const body of [{ to: before }, { to: "9500-01-01T00:00:00Z" }])
    expect(problem(await post(`/sandboxes/${sandbox}/clock`, body))).toEqual({
      status: 422,
      code: "clock_not_movable",
    });
  for (const body of [{}, { advanceSeconds: 0 }, { advanceSeconds: 1, to: before }, { advanceSeconds: 1.5 }])
    expect(problem(await post(`/sandboxes/${sandbox}/clock`, body)).code).toBe("invalid_request");
});

test("everything that falls due on the way of the clock happens, at its own time", async () => {
  const sandbox = await created();
  const id = await authorized(sandbox, { paymentMethod: "tok_timeout_captured", expiresIn: 86_400 });
  const path = `/sandboxes/${sandbox}/payments/${id}`;
  expect((await post(`${path}/capture`, {})).status).toBe(202);
  const { clock } = (await http.get(`/sandboxes/${sandbox}`)).body.sandbox;
  await post(`/sandboxes/${sandbox}/clock`, { advanceSeconds: 100 * 86_400 });
  const { payment } = (await http.get(path)).body;
  expect(payment.status).toBe("captured");
  const settledAfterMs = Date.parse(payment.captures[0].settledAt as string) - Date.parse(clock as string);
  expect(settledAfterMs).toBeGreaterThanOrEqual(5_000);
  expect(settledAfterMs).toBeLessThan(60_000);
});

test("snapshots: kept when asked for, forked, and gone back to", async () => {
  const golden = await created();
  const id = await authorized(golden);
  const { status, body } = await post(`/sandboxes/${golden}/checkpoint`);
  expect(status).toBe(201);
  expect(body.snapshot).toMatchObject({ checksum: expect.stringMatching(/^[0-9a-f]{64}$/) });
  await post(`/sandboxes/${golden}/payments/${id}/capture`, {});

  const fork = await created({ fromSnapshot: body.snapshot.id });
  expect((await http.get(`/sandboxes/${fork}/payments/${id}`)).body.payment.status).toBe("authorized");
  expect((await post(`/sandboxes/${fork}/payments/${id}/void`, {})).status).toBe(201);
  expect((await http.get(`/sandboxes/${golden}/payments/${id}`)).body.payment.status).toBe("captured");

  const shown = (await http.get(`/sandboxes/${golden}`)).body.sandbox;
  expect(shown).toMatchObject({ ownerUrl: a.url, waiter: false, unsaved: true, counts: { payments: 1 } });
  expect(shown.snapshots).toHaveLength(2);
  expect((shown.snapshots as { kept: boolean }[]).filter(({ kept }) => kept)).toHaveLength(1);
  expect(typesOf(shown.events)).toEqual(["checkpointed", "created", "checkpointed"]);

  for (const unknown of ["junk", `${golden}.1-1`, `${unknownId}.1-1`])
    expect(problem(await post("/sandboxes", { fromSnapshot: unknown }))).toEqual({
      status: 404,
      code: "snapshot_not_found",
    });
});

test("a damaged snapshot is refused in words, and the one before it is offered, and works", async () => {
  const sandbox = await created();
  await authorized(sandbox);
  await post(`/sandboxes/${sandbox}/checkpoint`);
  await authorized(sandbox);
  const last = (await post(`/sandboxes/${sandbox}/checkpoint`)).body.snapshot.id as string;
  await instances.passing(a.sandboxes.detach(sandbox as typeof unknownId));
  const name = last.split(".")[1]!;
  const bytes = Uint8Array.from((await instances.shared.readSnapshot(sandbox, name))!);
  bytes[bytes.length - 10]! ^= 1;
  await instances.shared.removeSnapshot(sandbox, name);

  const missing = await http.get(`/sandboxes/${sandbox}`);
  expect(problem(missing)).toEqual({ status: 409, code: "snapshot_missing" });
  await instances.shared.putSnapshot(sandbox, name, bytes);
  const refused = await http.get(`/sandboxes/${sandbox}`);
  expect(problem(refused)).toEqual({ status: 409, code: "snapshot_damaged" });
  expect(refused.body.detail).toMatch(
    /is damaged: its content is not what its checksum was made of; make a new/,
  );
  expect(refused.body.snapshotId).toBe(last);
  expect(problem(await post("/sandboxes", { fromSnapshot: last })).code).toBe("snapshot_damaged");

  const fork = await created({ fromSnapshot: refused.body.previousSnapshotId });
  expect((await http.get(`/sandboxes/${fork}`)).body.sandbox.counts.payments).toBe(1);
  // A damaged one can still be deleted.
  expect((await http.call("DELETE", `/sandboxes/${sandbox}`)).body).toEqual({ deleted: sandbox });
});

test("at another instance: 421 with its address, on every route", async () => {
  const { id: sandbox } = await b.sandboxes.create(parseMerchantId("default"));
  const asked = [
    () => http.get(`/sandboxes/${sandbox}`),
    () => http.get(`/sandboxes/${sandbox}/payments`),
    () => post(`/sandboxes/${sandbox}/payments`, order),
    () => post(`/sandboxes/${sandbox}/checkpoint`),
    () => post(`/sandboxes/${sandbox}/clock`, { advanceSeconds: 1 }),
    () => http.call("DELETE", `/sandboxes/${sandbox}`),
  ];
  for (const ask of asked) {
    const answer = await ask();
    expect(problem(answer)).toEqual({ status: 421, code: "sandbox_elsewhere" });
    expect(answer.body).toMatchObject({ ownerUrl: b.url, sandboxId: sandbox });
  }
  const listed = (await http.get("/sandboxes")).body.data;
  expect(listed).toMatchObject([{ id: sandbox, ownerUrl: b.url, here: false }]);
});

test("a sandbox belongs to the merchant who made it", async () => {
  http.keys.add("secret-of-acme", "acme", true);
  http.keys.add("secret-of-other", "other", true);
  const as = (merchant: string) => ({ authorization: `Bearer secret-of-${merchant}` });
  const made = await http.call("POST", "/sandboxes", { headers: as("acme") });
  const path = `/sandboxes/${made.body.sandbox.id}`;
  const { snapshot } = (await http.call("POST", `${path}/checkpoint`, { headers: as("acme") })).body;
  for (const [method, route] of [
    ["GET", path],
    ["POST", `${path}/attach`],
    ["POST", `${path}/checkpoint`],
    ["DELETE", path],
    ["GET", `${path}/payments`],
  ] as const)
    expect(problem(await http.call(method, route, { headers: as("other") }))).toEqual({
      status: 404,
      code: "sandbox_not_found",
    });
  const fork = { fromSnapshot: snapshot.id as string };
  expect(problem(await http.call("POST", "/sandboxes", { body: fork, headers: as("other") })).code).toBe(
    "snapshot_not_found",
  );
  expect((await http.call("GET", "/sandboxes", { headers: as("other") })).body.data).toEqual([]);
  expect((await http.call("GET", "/sandboxes", { headers: as("acme") })).body.data).toHaveLength(1);
  expect(problem(await http.get("/sandboxes")).status).toBe(401);
});

test("lists page by page, newest first", async () => {
  const made = [await created(), await created(), await created()].reverse();
  const first = (await http.get("/sandboxes?limit=2")).body;
  const second = (await http.get(`/sandboxes?limit=2&cursor=${first.nextCursor}`)).body;
  const ids = [...first.data, ...second.data].map(({ id }: { id: string }) => id);
  expect(ids).toEqual(made);
  expect(second.nextCursor).toBeNull();
  expect(problem(await http.get("/sandboxes?cursor=junk")).code).toBe("invalid_request");
});

test("limits are told in words", async () => {
  const sandbox = await created();
  const ids = [await authorized(sandbox), await authorized(sandbox), await authorized(sandbox)];
  const full = await post(`/sandboxes/${sandbox}/payments`, order);
  expect(problem(full)).toEqual({ status: 409, code: "sandbox_full" });
  expect(full.body.detail).toMatch(/^This sandbox has 3 payments, and no more/);
  // What is there goes on.
  expect((await post(`/sandboxes/${sandbox}/payments/${ids[0]}/capture`, {})).status).toBe(201);
  for (let n = 0; n < 3; n += 1) expect((await post(`/sandboxes/${sandbox}/checkpoint`)).status).toBe(201);
  expect(problem(await post(`/sandboxes/${sandbox}/checkpoint`)).code).toBe("sandbox_limit_reached");
  for (let n = 0; n < 3; n += 1) await created();
  const refused = await post("/sandboxes");
  expect(problem(refused)).toEqual({ status: 503, code: "sandbox_limit_reached" });
  expect(refused.body.detail).toMatch(/holds 4 sandboxes, and no more/);
  await http.call("DELETE", `/sandboxes/${sandbox}`);
  await created();
});

test("what is no sandbox id, and what is none that is there", async () => {
  expect(problem(await http.get("/sandboxes/junk"))).toEqual({ status: 400, code: "invalid_sandbox_id" });
  expect(problem(await http.get("/sandboxes/junk/payments"))).toEqual({
    status: 400,
    code: "invalid_sandbox_id",
  });
  expect(problem(await http.get(`/sandboxes/${unknownId}`))).toEqual({
    status: 404,
    code: "sandbox_not_found",
  });
  expect(problem(await post(`/sandboxes/${unknownId}/attach`)).code).toBe("sandbox_not_found");
  const sandbox = await created();
  expect((await http.get(`/sandboxes/${sandbox.toUpperCase()}`)).body.sandbox.id).toBe(sandbox);
});

test("without sandboxes there are no such routes", async () => {
  const without = await new HttpWorld().open();
  const { status } = await fetch(`${without.url}/sandboxes`);
  await without.close();
  expect(status).toBe(404);
});
