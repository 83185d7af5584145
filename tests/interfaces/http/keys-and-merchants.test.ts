import type { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { isLoopback, refusalToListen } from "../../../src/interfaces/http/server/listening-rule";
import { expectProblem } from "../../support/http-expectations";
import { HttpWorld } from "../../support/worlds/http-world";

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

const as = (secret: string) => ({ authorization: `Bearer ${secret}` });

test("without any key the caller is merchant default, with operator rights", async () => {
  const id = await http.authorize();
  expect((await http.get(`/payments/${id}`)).body.payment.merchant).toBe("default");
  expect((await http.get(`/gateway/payments/${id}`)).status).toBe(200);
});

test("every payments route wants a key as soon as there is one", async () => {
  http.keys.add("acme-secret", "acme");
  const id = "018f3a9e-0000-7000-8000-000000000000";
  for (const [method, path] of [
    ["POST", "/payments"],
    ["GET", "/payments"],
    ["GET", `/payments/${id}`],
    ["GET", `/payments/${id}/events`],
    ["GET", "/events"],
    ["POST", `/payments/${id}/capture`],
    ["POST", "/captures"],
    ["GET", `/gateway/payments/${id}`],
    ["POST", `/gateway/payments/${id}/observe`],
    ["GET", "/locks"],
  ] as const) {
    for (const headers of [
      {},
      as("guess"),
      as(""),
      { authorization: "acme-secret" },
      { authorization: "Basic acme-secret" },
      { authorization: "Bearer acme-secret more" },
    ] as Record<string, string>[]) {
      expectProblem(await http.call(method, path, { headers }), 401, "unauthorized");
    }
  }
});

test("the scheme's case does not matter, the secret's does", async () => {
  http.keys.add("acme-secret", "acme");
  expect((await http.get("/payments", { authorization: "bearer acme-secret" })).status).toBe(200);
  expect((await http.get("/payments", as("ACME-SECRET"))).status).toBe(401);
});

test("health and documents need no key", async () => {
  http.keys.add("acme-secret", "acme");
  for (const path of ["/healthz", "/readyz", "/openapi.json", "/docs"]) {
    expect((await http.get(path)).status).toBe(200);
  }
});

test("what looks across merchants needs an operator's key", async () => {
  http.keys.add("acme-secret", "acme");
  http.keys.add("boss", "acme", true);
  const id = await http.authorize({}, as("acme-secret"));
  expectProblem(await http.get(`/gateway/payments/${id}`, as("acme-secret")), 403, "operator_key_required");
  expect((await http.get(`/gateway/payments/${id}`, as("boss"))).body.moves).toHaveLength(1);
  const observe = `/gateway/payments/${id}/observe`;
  const asMerchant = await http.call("POST", observe, { headers: as("acme-secret") });
  expectProblem(asMerchant, 403, "operator_key_required");
  const asOperator = await http.call("POST", observe, { headers: as("boss") });
  expect(asOperator.body.operations).toMatchObject([{ kind: "authorize", result: "agrees" }]);
  expectProblem(await http.get("/locks", as("acme-secret")), 403, "operator_key_required");
  expect((await http.get("/locks", as("boss"))).body).toEqual({ data: [] });
});

test("an operator's key of another merchant shows a payment and its history", async () => {
  http.keys.add("acme-secret", "acme");
  http.keys.add("boss", "ops", true);
  const id = await http.authorize({}, as("acme-secret"));
  expect((await http.get(`/payments/${id}`, as("boss"))).body.payment.merchant).toBe("acme");
  expect((await http.get(`/payments/${id}/events`, as("boss"))).body.data).not.toEqual([]);
  expect((await http.get("/payments", as("boss"))).body.data).toEqual([]);
});

test("a merchant sees its own payments only", async () => {
  http.keys.add("acme-secret", "acme");
  http.keys.add("other-secret", "other");
  const id = await http.authorize({}, as("acme-secret"));
  expect((await http.get("/payments", as("acme-secret"))).body.data).toHaveLength(1);
  expect((await http.get("/payments", as("other-secret"))).body.data).toHaveLength(0);
  for (const path of [`/payments/${id}`, `/payments/${id}/events`]) {
    expectProblem(await http.get(path, as("other-secret")), 404, "payment_not_found");
  }
});

test("an authorization made elsewhere is its merchant's, or an operator's, and to all others it does not exist", async () => {
  http.keys.add("acme-secret", "acme");
  http.keys.add("other-secret", "other");
  http.keys.add("boss", "other", true);
  let keys = 0;
  const take = (secret: string, gatewayReference: string) =>
    http.call("POST", "/payments", {
      headers: { "idempotency-key": `take-${(keys += 1)}`, ...as(secret) },
      body: { gatewayReference },
    });
  const acmes = "ext_1250_eur_browser.for_acme";
  const strange = async (gatewayReference: string) => {
    const refused = await take("other-secret", gatewayReference);
    const { requestId: _, instance: __, ...problem } = expectProblem(refused, 404, "authorization_not_found");
    return JSON.parse(JSON.stringify(problem).replaceAll(gatewayReference, "it")) as unknown;
  };
  const none = await strange("ext_nothing");
  expect(await strange(acmes)).toEqual(none);
  const { body } = await take("acme-secret", acmes);
  expect(body.payment).toMatchObject({ merchant: "acme", status: "authorized" });
  expect(await strange(acmes)).toEqual(none);
  expect((await http.capture(body.payment.id, "c", {}, as("acme-secret"))).status).toBe(201);
  expect(await strange(acmes)).toEqual(none);
  expectProblem(await take("acme-secret", acmes), 409, "authorization_not_capturable");
  expectProblem(await take("acme-secret", "ext_1_eur_nobodys"), 404, "authorization_not_found");
  expect((await take("boss", "ext_1_eur_nobodys")).body.payment).toMatchObject({ merchant: "other" });
});

test("two merchants may use one idempotency key, and get a payment each", async () => {
  http.keys.add("acme-secret", "acme");
  http.keys.add("other-secret", "other");
  const headers = { "idempotency-key": "same" };
  const one = await http.authorize({}, { ...as("acme-secret"), ...headers });
  const two = await http.authorize({}, { ...as("other-secret"), ...headers });
  expect(one).not.toBe(two);
});

test("a revoked key is refused within a second", async () => {
  http.keys.add("acme-secret", "acme");
  expect((await http.get("/payments", as("acme-secret"))).status).toBe(200);
  http.keys.revoke("acme-secret");
  http.world.clock.advance(1_000);
  expectProblem(await http.get("/payments", as("acme-secret")), 401, "unauthorized");
});

test("a key store that is down is no reason to let anybody in", async () => {
  http.keys.add("acme-secret", "acme");
  http.keys.down = true;
  expectProblem(await http.get("/payments", as("acme-secret")), 503, "service_unavailable");
});

test("no secret of a whole life of requests is in the log, and each line says who asked", async () => {
  http.keys.add("hf_live_51secret", "acme");
  const headers = as("hf_live_51secret");
  const id = await http.authorize({ reference: "private-reference" }, headers);
  await http.capture(id, "private-key-1", { amount: 7 }, headers);
  await http.capture(id, "private-key-1", { amount: 7 }, headers);
  await http.capture(id, "private-key-2", { amount: "private-body" }, headers);
  await http.call("POST", `/payments/${id}/capture`, {
    headers: { ...headers, "idempotency-key": "private-key-3" },
    body: '{"private-body": ',
  });
  await http.get("/payments?reference=private-reference&api_key=hf_live_51secret", headers);
  await http.get("/payments", as("hf_test_wrong_secret"));
  await http.get("/payments", { authorization: "Basic cHJpdmF0ZTpwcml2YXRl", cookie: "session=private" });
  Object.assign(http.world.context.payments, {
    find: () =>
      Promise.reject(Object.assign(new Error("unforeseen, postgres://u:secret@db"), { query: "private" })),
  });
  await http.capture(id, "private-key-4", {}, headers);
  const log = http.logLines.join("");
  for (const secret of ["secret", "private", "cHJpdmF0ZTpwcml2YXRl", "Bearer"])
    expect(log).not.toContain(secret);
  expect(log).toContain("unforeseen");
  const byAcme = http.accessLog.filter(({ merchant }) => merchant === "acme");
  expect(byAcme.length).toBeGreaterThanOrEqual(6);
  expect(byAcme[0]).toMatchObject({
    requestId: expect.any(String),
    method: "POST",
    path: "/payments",
    status: 201,
    durationMs: expect.any(Number),
    merchant: "acme",
    keyId: "key-1",
  });
});

test("who asked is in the payment's history, by the key's name and the request's id", async () => {
  http.keys.add("acme-secret", "acme");
  const payments = http.world.context.payments as InMemoryPaymentRepository;
  const id = await http.authorize({}, { ...as("acme-secret"), "x-request-id": "ours-1" });
  const { data } = (await http.get(`/payments/${id}/events`, as("acme-secret"))).body;
  expect(data[0].data.by).toEqual({ apiKey: "key-1", requestId: "ours-1" });
  expect(JSON.stringify(await payments.events(id as never))).not.toContain("acme-secret");
});

describe("without a key the server listens on this machine only", () => {
  test.each(["127.0.0.1", "127.8.8.8", "::1", "[::1]", "localhost", "LOCALHOST", "::ffff:127.0.0.1"])(
    "%s is this machine",
    (host) => {
      expect(isLoopback(host)).toBe(true);
      expect(refusalToListen(host, false)).toBeNull();
    },
  );

  test.each([
    "0.0.0.0",
    "::",
    "",
    "10.0.0.1",
    "127.0.0.1.example.com",
    "127.example.com",
    "holdfast.local",
    "::ffff:10.0.0.1",
  ])("the host %j is not taken for loopback, so it needs API keys", (host) => {
    expect(refusalToListen(host, false)).toContain("holdfast keys create");
    expect(refusalToListen(host, true)).toBeNull();
  });
});
