import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { Gate, until } from "../../support/fakes/gate";
import { expectProblem } from "../../support/http-expectations";
import { HttpWorld, type HttpAnswer } from "../../support/worlds/http-world";

const UNKNOWN = "018f3a9e-0000-7000-8000-000000000000";
const REFERENCE = "ext_1250_eur_browser";

let http: HttpWorld;
beforeEach(async () => {
  http = await new HttpWorld().open();
});
afterEach(() => http.close());

const post = (path: string, key: string, body: unknown = {}, headers: Record<string, string> = {}) =>
  http.call("POST", path, { body, headers: { "idempotency-key": key, ...headers } });
const release = (id: string, key: string) => post(`/payments/${id}/void`, key);
const refund = (id: string, key: string, body: unknown = {}) => post(`/payments/${id}/refunds`, key, body);

async function captured(paymentMethod = "tok_ok"): Promise<string> {
  const id = await http.authorize({ paymentMethod });
  await http.capture(id, "captured");
  return id;
}

describe.each(["void", "refunds"])("POST /payments/:id/%s is refused before anything is done", (path) => {
  test("a movement is refused before anything is done in the order of the table: key, payment id, idempotency key, body, payment", async () => {
    http.keys.add("secret", "acme");
    const at = (id: string) => `/payments/${id}/${path}`;
    const key = { "idempotency-key": "k" };
    const known = { authorization: "Bearer secret" };
    const send = (id: string, body: unknown, headers: Record<string, string>) =>
      http.call("POST", at(id), { body, headers });
    expectProblem(await send("none", { x: 1 }, {}), 401, "unauthorized");
    expectProblem(await send("none", { x: 1 }, known), 400, "invalid_payment_id");
    expectProblem(await send(UNKNOWN, { x: 1 }, known), 400, "idempotency_key_required");
    const invalid = await send(UNKNOWN, { x: 1 }, { ...known, ...key });
    expect(expectProblem(invalid, 400, "invalid_request").errors).toEqual([
      { pointer: "/x", detail: "is not recognized" },
    ]);
    expectProblem(await send(UNKNOWN, {}, { ...known, ...key }), 404, "payment_not_found");
    expectProblem(await http.get(at(UNKNOWN), known), 405, "method_not_allowed");
    expect(http.lockEvents).toEqual([]);
  });
});

describe("POST /payments/:id/void", () => {
  test("POST /payments/:id/void lets the money go, and says the same again", async () => {
    const id = await http.authorize();
    const first = await release(id, "k");
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      void: { status: "succeeded", amount: 1_000 },
      payment: { status: "voided", amountCapturable: 0 },
    });
    const again = await release(id, "k");
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expectProblem(await release(id, "other"), 409, "payment_not_voidable");
    expectProblem(await http.capture(id, "c"), 409, "payment_not_capturable");
  });

  test("POST /payments/:id/void takes no body, `{}`, and nothing else", async () => {
    const bare = await http.call("POST", `/payments/${await http.authorize()}/void`, {
      headers: { "idempotency-key": "k" },
    });
    expect(bare.status).toBe(201);
    const part = await post(`/payments/${await http.authorize()}/void`, "k", { amount: 1 });
    expectProblem(part, 400, "invalid_request");
  });

  test.each([
    ["tok_void_decline", 402, "void_declined", null],
    ["tok_void_authorization_gone", 409, "payment_expired", null],
    ["tok_void_unreachable", 503, "gateway_unavailable", "5"],
  ] as const)("POST /payments/:id/void with %s: %i %s", async (paymentMethod, status, code, retryAfter) => {
    const id = await http.authorize({ paymentMethod });
    expectProblem(await release(id, "k"), status, code, retryAfter);
  });

  test("POST /payments/:id/void whose outcome nobody knows is a 202, and others are told to wait", async () => {
    const id = await http.authorize({ paymentMethod: "tok_void_timeout_captured" });
    const { status, headers, body } = await release(id, "k");
    expect({ status, retryAfter: headers.get("retry-after") }).toEqual({ status: 202, retryAfter: "2" });
    expect(body).toMatchObject({ void: { status: "unknown" }, payment: { status: "voiding" } });
    expectProblem(await release(id, "other"), 409, "void_in_progress", "2");
    expectProblem(await http.capture(id, "c"), 409, "void_in_progress", "2");
    http.world.clock.advance(2_000);
    expect((await release(id, "k")).body).toMatchObject({ void: { status: "succeeded" } });
  });
});

describe("POST /payments/:id/refunds", () => {
  test("POST /payments/:id/refunds gives parts back, and says the same again", async () => {
    const id = await captured();
    const first = await refund(id, "a", { amount: 300, currency: "eur" });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({
      refund: { status: "succeeded", amount: 300 },
      payment: { status: "captured", amountRefunded: 300, refunds: [{ amount: 300 }] },
    });
    await refund(id, "b", { amount: 600 });
    const again = await refund(id, "a", { amount: 300, currency: "EUR" });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(first.body);
    expectProblem(await refund(id, "a", { amount: 301 }), 422, "idempotency_key_reused");
    const tooMuch = expectProblem(await refund(id, "c", { amount: 101 }), 422, "amount_exceeds_captured");
    expect(tooMuch.maxAmount).toBe(100);
    expectProblem(await refund(id, "c", { currency: "USD" }), 422, "currency_mismatch");
    expect((await refund(id, "c")).body).toMatchObject({ refund: { amount: 100 } });
    expect((await http.get(`/payments/${id}`)).body.payment.amountRefunded).toBe(1_000);
  });

  test("POST /payments/:id/refunds of what was not captured is refused", async () => {
    const id = await http.authorize();
    expect(expectProblem(await refund(id, "k"), 409, "payment_not_refundable").paymentStatus).toBe(
      "authorized",
    );
  });

  test("POST /payments/:id/refunds that is declined is a 402, whose outcome nobody knows a 202", async () => {
    expectProblem(await refund(await captured("tok_refund_decline"), "k"), 402, "refund_declined");
    const id = await captured("tok_refund_timeout_captured");
    const unknown = await refund(id, "k");
    expect(unknown.status).toBe(202);
    expect(unknown.body).toMatchObject({ refund: { status: "unknown" }, payment: { status: "refunding" } });
    expectProblem(await refund(id, "other"), 409, "refund_in_progress", "2");
  });
});

describe("POST /payments with a gateway reference", () => {
  const take = (key: string, body: object = {}) =>
    post("/payments", key, { gatewayReference: REFERENCE, ...body });

  test("POST /payments with a gateway reference makes a payment of what the gateway tells, once for each key", async () => {
    const { status, headers, body } = await take("k", { reference: "order-1", expiresIn: 60 });
    expect(status).toBe(201);
    expect(headers.get("location")).toBe(`/payments/${body.payment.id}`);
    expect(body.payment).toMatchObject({
      status: "authorized",
      amount: 1_250,
      currency: "EUR",
      reference: "order-1",
      expiresAt: "2026-03-01T12:01:00.000Z",
    });
    const again = await take("k", { reference: "order-1", expiresIn: 60 });
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect(again.body).toEqual(body);
    expectProblem(await take("k"), 422, "idempotency_key_reused");
    expectProblem(await take("other"), 409, "authorization_already_imported");
    expect((await http.capture(body.payment.id, "c")).status).toBe(201);
  });

  test("POST /payments with a gateway reference is refused where there is nothing to take over, and leaves the key free", async () => {
    expectProblem(await take("k", { gatewayReference: "ext_nothing" }), 404, "authorization_not_found");
    const { body } = await take("first");
    await http.capture(body.payment.id, "c");
    const refused = expectProblem(await take("k"), 409, "authorization_not_capturable");
    expect(refused).toMatchObject({ gatewayReference: REFERENCE, reason: "captured" });
    expect((await take("k", { gatewayReference: "ext_1_eur_x" })).status).toBe(201);
  });

  test.each([
    ["an amount, which is the gateway's to say", { amount: 1 }, "/amount"],
    ["a card", { paymentMethod: "tok_ok" }, "/paymentMethod"],
    ["an empty reference", { gatewayReference: "" }, "/gatewayReference"],
  ])("POST /payments with a gateway reference does not take %s", async (_what, change, pointer) => {
    const { errors } = expectProblem(await take("k", change), 400, "invalid_request");
    expect(errors).toMatchObject([{ pointer }]);
  });
});

describe("reviews", () => {
  /** The id of an operation that only a person can decide. */
  async function inReview(headers: Record<string, string> = {}): Promise<string> {
    const id = await http.authorize({ paymentMethod: "tok_timeout_captured" }, headers);
    const { body } = await http.capture(id, "k", {}, headers);
    http.world.clock.advance(2_000);
    http.world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
    const { body: after } = await http.capture(id, "k", {}, headers);
    expect(after).toMatchObject({ capture: { status: "unknown", needsReview: true } });
    return body.capture.id as string;
  }
  const decide = (id: string, body: unknown, headers: Record<string, string> = {}): Promise<HttpAnswer> =>
    http.call("POST", `/reviews/${id}`, { body, headers });

  test("reviews are an operator's, across merchants, and the payment's owner sees that they were decided", async () => {
    http.keys.add("shop", "acme");
    http.keys.add("boss", "default", true);
    const shop = { authorization: "Bearer shop" };
    const boss = { authorization: "Bearer boss" };
    const operationId = await inReview(shop);
    expectProblem(await http.get("/reviews", shop), 403, "operator_key_required");
    expectProblem(await decide(operationId, {}, shop), 403, "operator_key_required");
    expectProblem(await http.get("/reviews"), 401, "unauthorized");
    const { body } = await http.get("/reviews?limit=1", boss);
    expect(body.data).toMatchObject([{ operationId, merchant: "acme", reason: "another amount" }]);
    const decided = await decide(operationId, { outcome: "moved", evidence: "seen there" }, boss);
    expect(decided.body).toMatchObject({
      operation: { kind: "capture", status: "succeeded", needsReview: false },
      payment: { status: "captured", amountCaptured: 1_000 },
    });
    const { data } = (await http.get(`/payments/${body.data[0].paymentId}/events`, shop)).body;
    expect((data as object[]).at(-1)).toMatchObject({
      type: "review.resolved",
      data: { by: { operator: true }, outcome: "moved", resolvedBy: "operator" },
    });
    const { events } = (await http.get(`/reviews/${operationId}`, boss)).body;
    expect((events as object[]).at(-1)).toMatchObject({
      type: "review.resolved",
      data: { by: { apiKey: "key-2" }, outcome: "moved", evidence: "seen there" },
    });
  });

  test("keep what an operator wrote, and whose key it was, from everything that a merchant can ask", async () => {
    http.keys.add("shop", "acme");
    http.keys.add("boss", "acme", true);
    const shop = { authorization: "Bearer shop" };
    const boss = { authorization: "Bearer boss" };
    const secrets = ["SECRET-EVIDENCE", "SECRET-REASON", "key-2"];
    const operationId = await inReview(shop);
    const { paymentId } = (await http.get("/reviews", boss)).body.data[0] as { paymentId: string };
    const said = { evidence: "SECRET-EVIDENCE", overrideReason: "SECRET-REASON" };
    expect((await decide(operationId, { outcome: "pending", ...said }, boss)).status).toBe(200);
    http.world.gateway.answersQuestions({ outcome: "succeeded", reference: "ch_1" });
    expect((await decide(operationId, { outcome: "not_moved", ...said }, boss)).status).toBe(200);
    // An operator who moves money of that merchant is not named either.
    const refused = await http.capture(paymentId, "of-the-operator", { amount: 1_001 }, boss);
    expect(refused.status).toBe(422);
    expect((await http.capture(paymentId, "of-the-operator", {}, boss)).status).toBe(202);

    const shown = [
      await http.get(`/payments/${paymentId}`, shop),
      await http.get(`/payments/${paymentId}/events`, shop),
      await http.get("/payments", shop),
      await http.get(`/reviews/${operationId}`, shop),
      await http.capture(paymentId, "k", {}, shop),
      await http.capture(paymentId, "another", {}, shop),
    ].map(({ body }) => JSON.stringify(body));
    for (const secret of secrets) expect(shown.filter((text) => text.includes(secret))).toEqual([]);
    const toOperators = [
      await http.get(`/payments/${paymentId}/events`, boss),
      await http.get(`/reviews/${operationId}`, boss),
    ].map(({ body }) => JSON.stringify(body));
    for (const secret of secrets) expect(toOperators.every((text) => text.includes(secret))).toBe(true);
  });

  test("show an operation with its own part of the history, and nothing of what is not there", async () => {
    const operationId = await inReview();
    const { body } = await http.get(`/reviews/${operationId}`);
    expect(body.operation).toMatchObject({ id: operationId, kind: "capture", needsReview: true });
    expect((body.events as { type: string }[]).map(({ type }) => type)).toEqual([
      "capture.started",
      "capture.unknown",
      "operation.needs_review",
    ]);
    expectProblem(await http.get(`/reviews/${UNKNOWN}`), 404, "operation_not_found");
    expectProblem(await http.get("/reviews/none"), 400, "invalid_operation_id");
  });

  test("reviews are not decided against the gateway, unless somebody says why it is wrong", async () => {
    const operationId = await inReview();
    http.world.gateway.answersQuestions({ outcome: "succeeded", reference: "ch_1" });
    const verdict = { outcome: "not_moved", evidence: "nothing there" };
    const problem = expectProblem(await decide(operationId, verdict), 409, "review_contradicts_gateway");
    expect(problem).toMatchObject({
      operationId,
      outcome: "not_moved",
      gateway: { answer: "succeeded", reference: "ch_1" },
    });
    const overridden = { ...verdict, overrideReason: "their support says so" };
    expect((await decide(operationId, overridden)).body).toMatchObject({ operation: { status: "failed" } });
  });

  test("reviews can be put off while the gateway has not decided, which is a verdict with evidence, too", async () => {
    const operationId = await inReview();
    const { body } = await http.get("/reviews");
    expect(body.data).toMatchObject([{ operationId, status: "unknown", nextQuestionAt: expect.any(String) }]);
    expectProblem(await decide(operationId, { outcome: "pending" }), 400, "invalid_request");
    const put = await decide(operationId, { outcome: "pending", evidence: "they say: tomorrow" });
    expect(put.body).toMatchObject({ operation: { status: "unknown", needsReview: true } });
    const after = (await http.get("/reviews")).body.data as { nextQuestionAt: string }[];
    expect(Date.parse(after[0]!.nextQuestionAt) - http.world.clock.now().getTime()).toBe(86_400_000);
  });

  test("reviews of nothing, or of what is decided, are refused, and so is a verdict without evidence", async () => {
    const verdict = { outcome: "not_moved", evidence: "nothing there" };
    expectProblem(await decide("none", verdict), 400, "invalid_operation_id");
    expectProblem(await decide(UNKNOWN, verdict), 404, "operation_not_found");
    const operationId = await inReview();
    for (const body of [
      { outcome: "moved" },
      { ...verdict, outcome: "maybe" },
      { ...verdict, evidence: "" },
    ]) {
      expectProblem(await decide(operationId, body), 400, "invalid_request");
    }
    expect((await decide(operationId, verdict)).status).toBe(200);
    const again = expectProblem(await decide(operationId, verdict), 409, "operation_not_in_review");
    expect(again.operationStatus).toBe("failed");
    expectProblem(await http.get("/reviews?limit=0"), 400, "invalid_request");
    expectProblem(await http.get("/reviews?cursor=x"), 400, "invalid_request");
  });

  test("continue where the previous page ended", async () => {
    const ids = [await inReview(), await inReview(), await inReview()];
    const first = await http.get("/reviews?limit=2");
    const rest = await http.get(`/reviews?limit=2&cursor=${first.body.nextCursor}`);
    const seen = [...first.body.data, ...rest.body.data].map(
      (one: { operationId: string }) => one.operationId,
    );
    expect(seen).toEqual(ids);
    expect(rest.body.nextCursor).toBeNull();
  });
});

describe("GET /payments/:id/events", () => {
  test("GET /payments/:id/events has pages, and without a limit all that a payment usually has", async () => {
    const id = await captured();
    const all = (await http.get(`/payments/${id}/events`)).body;
    expect(all.nextCursor).toBeNull();
    expect(all.data.length).toBeGreaterThan(4);
    const read: unknown[] = [];
    let path = `/payments/${id}/events?limit=2`;
    for (let pages = 0; pages < all.data.length; pages += 1) {
      const { data, nextCursor } = (await http.get(path)).body;
      expect(data.length).toBeLessThanOrEqual(2);
      read.push(...data);
      if (nextCursor === null) break;
      path = `/payments/${id}/events?limit=2&cursor=${nextCursor}`;
    }
    expect(read).toEqual(all.data);
    expectProblem(await http.get(`/payments/${id}/events?cursor=made-up`), 400, "invalid_request");
    expectProblem(await http.get(`/payments/${id}/events?limit=1001`), 400, "invalid_request");
  });

  test("GET /payments/:id/events says why a payment is what it is: who asked, what was waited for, what the gateway said", async () => {
    const id = await http.authorize();
    const leaving = new Gate();
    const holder = http.world.locks.withLock(`payment:${id}`, () => leaving.passed, {
      purpose: "night shift",
    });
    const capture = http.capture(id, "k", {}, { "x-request-id": "the-capture" });
    await until(() => http.lockEvents.includes("wait_started"));
    http.world.clock.advance(1_500);
    leaving.open();
    await holder;
    const operationId = (await capture).body.capture.id as string;
    const { data } = (await http.get(`/payments/${id}/events`)).body;
    expect((data as object[]).at(-2)).toEqual({
      id: expect.any(String),
      type: "capture.succeeded",
      // The clock as it was read inside the lock.
      at: "2026-03-01T12:00:01.500Z",
      data: {
        by: { apiKey: null, requestId: "the-capture" },
        lock: {
          fencingToken: expect.stringMatching(/^\d+$/),
          waitedMs: expect.any(Number),
          waitedFor: expect.stringContaining("night shift"),
        },
        gateway: {
          asked: "capture",
          key: `${operationId}.1`,
          answer: "succeeded",
          reference: `capture_${operationId}.1`,
        },
        operationId,
        amount: 1_000,
      },
    });
    expect(http.world.locks).toBeInstanceOf(MemoryLockProvider);
  });
});

describe("GET /payments", () => {
  test("filters by each status that a payment can show, by reference and by time", async () => {
    const open = { paymentMethod: "tok_timeout_captured" };
    const made: Record<string, string> = {
      authorized: await http.authorize({ reference: "order-1" }),
      captured: await captured(),
      voided: await http.authorize(),
      voiding: await http.authorize({ paymentMethod: "tok_void_timeout_captured" }),
      refunding: await captured("tok_refund_timeout_captured"),
      capturing: await http.authorize(open),
      authorizing: await http.authorize({ paymentMethod: "tok_authorize_timeout_captured" }),
    };
    await release(made["voided"]!, "k");
    await release(made["voiding"]!, "k");
    await refund(made["refunding"]!, "k");
    await http.capture(made["capturing"]!, "k");
    for (const [status, id] of Object.entries(made)) {
      const data = (await http.get(`/payments?status=${status}`)).body.data as { id: string }[];
      expect({ status, ids: data.map((one) => one.id) }).toEqual({ status, ids: [id] });
    }
    expect((await http.get("/payments?reference=order-1")).body.data).toHaveLength(1);
    const before = encodeURIComponent("2026-03-01T13:00:00.000+01:00");
    expect((await http.get(`/payments?createdTo=${before}`)).body.data).toHaveLength(0);
    expect((await http.get(`/payments?createdFrom=${before}`)).body.data).toHaveLength(7);
  });
});
