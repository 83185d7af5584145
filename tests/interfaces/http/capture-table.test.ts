import { LockLostError, LockUnavailableError } from "../../../src/application/ports/lock-errors";
import type { LockHold, LockProvider } from "../../../src/application/ports/lock-provider";
import {
  StoreUnavailableError,
  VersionConflictError,
} from "../../../src/application/ports/payment-repository";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { loseAnswers } from "../../support/fakes/lost-answers";
import { expectProblem } from "../../support/http-expectations";
import { HttpWorld, type HttpWorldParts } from "../../support/worlds/http-world";
import { Gate, until } from "../../support/fakes/gate";

let http: HttpWorld;

async function open(parts: HttpWorldParts = {}): Promise<void> {
  await http?.close();
  http = await new HttpWorld(parts).open();
}
beforeEach(() => open());
afterEach(() => http.close());

const unknownId = "018f3a9e-0000-7000-8000-000000000000";

/** Somebody is inside until the gate opens. */
function occupied(id: string, gate: Gate): Promise<void> {
  return http.world.locks.withLock(`payment:${id}`, () => gate.passed, { purpose: "capture" });
}

describe("refused before a use case sees it, in the order of the table", () => {
  const wrong = { path: "/payments/none/capture", body: '{"amount":0' };

  test("first of all the API key", async () => {
    http.keys.add("secret", "acme");
    expectProblem(await http.call("POST", wrong.path, { body: wrong.body }), 401, "unauthorized");
    const guess = await http.call("POST", wrong.path, {
      body: wrong.body,
      headers: { authorization: "Bearer guess" },
    });
    expectProblem(guess, 401, "unauthorized");
    expect(guess.headers.get("www-authenticate")).toContain("Bearer");
  });

  test("then the payment id", async () => {
    for (const id of ["none", "018f3a9e-0000-9000-8000-000000000000", "%20", "a%2Fb"]) {
      const path = `/payments/${id}/capture`;
      expectProblem(await http.call("POST", path, { body: wrong.body }), 400, "invalid_payment_id");
    }
  });

  test("then the idempotency key", async () => {
    const path = `/payments/${unknownId}/capture`;
    expectProblem(await http.call("POST", path, { body: wrong.body }), 400, "idempotency_key_required");
    for (const key of [
      "",
      "a b",
      '"open',
      '"a b"',
      '""',
      "x".repeat(256),
      "kéy",
      '"k";a=1',
      "a, b",
      '"a", "a"',
    ]) {
      const answer = await http.call("POST", path, { body: wrong.body, headers: { "idempotency-key": key } });
      expectProblem(answer, 400, "invalid_idempotency_key");
    }
  });

  test("then the body", async () => {
    const path = `/payments/${unknownId}/capture`;
    const headers = { "idempotency-key": "k" };
    const send = (body: string, contentType = "application/json") =>
      http.call("POST", path, { body, headers: { ...headers, "content-type": contentType } });
    expectProblem(await send("{}", "text/plain"), 415, "unsupported_media_type");
    expectProblem(await send("{}", "application/json; charset=latin1"), 415, "unsupported_media_type");
    expectProblem(await send(wrong.body), 400, "malformed_json");
    expectProblem(await send('{"__proto__":{}}'), 400, "malformed_json");
    expectProblem(await send(`{"a":"${"x".repeat(65_536)}"}`), 413, "body_too_large");
    for (const body of [
      '{"amount":0}',
      '{"amount":-1}',
      '{"amount":1.5}',
      '{"amount":"1"}',
      '{"amount":1000000000000}',
      '{"amount":1e400}',
      '{"amount":null}',
      '{"currency":"EU"}',
      '{"currency":"XXXX"}',
      '{"currency":"ZZZ"}',
      '{"tip":1}',
      "[]",
      "5",
      "null",
    ]) {
      const { errors } = expectProblem(await send(body), 400, "invalid_request");
      expect(errors).not.toHaveLength(0);
    }
  });

  test("what is wrong with a body is told by JSON pointer, and nothing that is not", async () => {
    const answer = await http.capture(unknownId, "k", { amount: -1, tip: 1, currency: "EUR" });
    const { errors } = expectProblem(answer, 400, "invalid_request") as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer).sort()).toEqual(["/amount", "/tip"]);
  });

  test("of very many mistakes the first twenty are told, each in short", async () => {
    const fields = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`${n}`.repeat(300), n]));
    const { errors } = expectProblem(await http.capture(unknownId, "k", fields), 400, "invalid_request");
    expect(errors).toHaveLength(20);
    expect(JSON.stringify(errors).length).toBeLessThan(20 * 300);
  });

  test("only then the payment is looked for", async () => {
    expectProblem(await http.capture(unknownId, "k"), 404, "payment_not_found");
    expect((http.world.locks as MemoryLockProvider).size).toBe(0);
  });

  test("another merchant's payment does not exist", async () => {
    http.keys.add("one", "acme");
    http.keys.add("two", "other");
    const id = await http.authorize({}, { authorization: "Bearer one" });
    const asOther = await http.capture(id, "k", {}, { authorization: "Bearer two" });
    expectProblem(asOther, 404, "payment_not_found");
    expect((await http.capture(id, "k", {}, { authorization: "Bearer one" })).status).toBe(201);
  });
});

describe("waiting for the lock", () => {
  test("past the budget: try again, and by whom it is held", async () => {
    const id = await http.authorize();
    const gate = new Gate();
    const inside = occupied(id, gate);
    const answer = await http.capture(id, "k", {}, { prefer: "wait=0" });
    gate.open();
    await inside;
    const { holder, detail, limit, source, scope, waitedMs } = expectProblem(
      answer,
      503,
      "lock_timeout",
      "1",
    );
    expect(holder.purpose).toBe("capture");
    expect({ limit, source, scope, waitedMs }).toEqual({
      limit: 0,
      source: "Prefer: wait",
      scope: "payment",
      waitedMs: expect.any(Number) as number,
    });
    expect(detail).toContain("Prefer: wait");
    // What to set on the server is not for its callers.
    expect(detail).not.toContain("HOLDFAST_");
    expect(http.world.gateway.calls).toEqual(["authorize"]);
  });

  test("past the budget, while an operation with this key is under way: the key is in use", async () => {
    const id = await http.authorize();
    const gate = new Gate();
    http.world.gateway.next("capture", async (real) => {
      await gate.passed;
      return real();
    });
    const first = http.capture(id, "k");
    await until(() => http.world.gateway.calls.includes("capture"));
    const second = await http.capture(id, "k", {}, { prefer: "wait=0" });
    gate.open();
    expectProblem(second, 409, "idempotency_key_in_use", "2");
    expect((await first).status).toBe(201);
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test("the lock's backend is down: nothing is sent, and its words stay inside", async () => {
    const payments = new InMemoryPaymentRepository();
    await open({ payments });
    const id = await http.authorize();
    const locks: LockProvider = {
      withLock: (resourceId) =>
        Promise.reject(new LockUnavailableError(resourceId, "redis://:hunter2@10.0.0.1 refused")),
    };
    await open({ payments, locks });
    const answer = await http.capture(id, "k");
    expectProblem(answer, 503, "lock_unavailable", "1");
    expect(JSON.stringify(answer.body)).not.toContain("redis");
    expect(http.world.gateway.calls).toEqual([]);
  });

  test("the lock is lost before the send: nothing is sent", async () => {
    const payments = new InMemoryPaymentRepository();
    await open({ payments });
    const id = await http.authorize();
    const inner = new MemoryLockProvider();
    const locks: LockProvider = {
      withLock: (resourceId, section, options) =>
        inner.withLock(resourceId, (hold) => section(lostAfterIntent(hold)), options),
    };
    await open({ payments, locks });
    expectProblem(await http.capture(id, "k"), 503, "lock_lost", "1");
    expect(http.world.gateway.calls).toEqual([]);
  });

  test("a caller that hangs up leaves the line, and nothing of it stays", async () => {
    const id = await http.authorize();
    const gate = new Gate();
    const inside = occupied(id, gate);
    const controller = new AbortController();
    const answer = http.call("POST", `/payments/${id}/capture`, {
      headers: { "idempotency-key": "k" },
      signal: controller.signal,
    });
    await until(() => http.lockEvents.includes("wait_started"));
    controller.abort();
    await expect(answer).rejects.toThrow();
    await until(() => http.log.some(({ problem }) => problem === "wait_cancelled"));
    gate.open();
    await inside;
    expect((http.world.locks as MemoryLockProvider).size).toBe(0);
    expect(http.world.gateway.calls).toEqual(["authorize"]);
    expect(http.accessLog.at(-1)).toMatchObject({ status: 499 });
  });

  test("a caller that hangs up once inside does not stop the capture", async () => {
    const id = await http.authorize();
    const gate = new Gate();
    http.world.gateway.next("capture", async (real) => {
      await gate.passed;
      return real();
    });
    const controller = new AbortController();
    const answer = http.call("POST", `/payments/${id}/capture`, {
      headers: { "idempotency-key": "k" },
      signal: controller.signal,
    });
    await until(() => http.world.gateway.calls.includes("capture"));
    controller.abort();
    await expect(answer).rejects.toThrow();
    await until(() => http.accessLog.some(({ status }) => status === 499));
    gate.open();
    const again = await http.capture(id, "k");
    expect(again.status).toBe(201);
    expect(await http.timesCaptured(id)).toBe(1);
  });
});

describe("a key that is known", () => {
  test("with another request: refused, and the stored one is not shown", async () => {
    const id = await http.authorize();
    await http.capture(id, "k", { amount: 700 });
    const answer = await http.capture(id, "k", { amount: 800 });
    expectProblem(answer, 422, "idempotency_key_reused");
    expect(JSON.stringify({ ...answer.body, instance: "", requestId: "" })).not.toContain("700");
  });

  test("finished: the first answer, said to be replayed, and no call to the gateway", async () => {
    const id = await http.authorize();
    const first = await http.capture(id, "k", { amount: 700, currency: "eur" });
    const calls = [...http.world.gateway.calls];
    http.world.clock.advance(60_000);
    const second = await http.capture(id, '"k"', { amount: 700, currency: "EUR" });
    expect({ status: second.status, body: second.body }).toEqual({ status: 201, body: first.body });
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(http.world.gateway.calls).toEqual(calls);
  });

  test("open: asked about anew, and answered when it is known", async () => {
    const id = await http.authorize({ paymentMethod: "tok_timeout_not_captured" });
    const first = await http.capture(id, "k");
    expect(first.status).toBe(202);
    expect(first.headers.get("retry-after")).toBe("2");
    expect(first.body.capture).toMatchObject({ status: "unknown", needsReview: false, settledAt: null });
    expect(first.body.payment.status).toBe("capturing");
    const tooSoon = await http.capture(id, "k");
    expect(tooSoon.status).toBe(202);
    http.world.clock.advance(2_000);
    const later = await http.capture(id, "k");
    expect(later.status).toBe(201);
    expect(later.headers.get("idempotency-replayed")).toBeNull();
    expect(await http.timesCaptured(id)).toBe(1);
  });
});

describe("a payment that is not there to be captured", () => {
  test("another key's operation is open", async () => {
    const id = await http.authorize({ paymentMethod: "tok_timeout_not_captured" });
    await http.capture(id, "one");
    expectProblem(await http.capture(id, "two"), 409, "capture_in_progress", "2");
  });

  test("it kept changing under the request", async () => {
    const payments = new InMemoryPaymentRepository();
    await open({ payments });
    const id = await http.authorize();
    const conflicted = Object.assign(Object.create(payments) as InMemoryPaymentRepository, {
      save: (payment: { id: never }) => Promise.reject(new VersionConflictError(payment.id)),
    });
    await open({ payments: conflicted });
    expectProblem(await http.capture(id, "k"), 409, "payment_busy", "1");
  });

  test("captured", async () => {
    const id = await http.authorize();
    await http.capture(id, "one");
    expectProblem(await http.capture(id, "two"), 409, "payment_already_captured");
  });

  test("its authorization was declined", async () => {
    const declined = await http.call("POST", "/payments", {
      headers: { "idempotency-key": "a" },
      body: { amount: 5, currency: "EUR", paymentMethod: "tok_decline" },
    });
    const { paymentId } = expectProblem(declined, 402, "authorization_declined");
    expectProblem(await http.capture(paymentId as string, "k"), 409, "payment_not_capturable");
    expect((await http.get(`/payments/${paymentId}`)).body.payment.status).toBe("declined");
  });

  test("expired at the very instant, and the key is free again", async () => {
    const id = await http.authorize({ expiresIn: 60 });
    http.world.clock.advance(60_000);
    const { expiresAt } = expectProblem(await http.capture(id, "k"), 409, "payment_expired");
    expect(expiresAt).toBe("2026-03-01T12:01:00.000Z");
    const again = await http.capture(id, "k", { amount: 1 });
    expectProblem(again, 409, "payment_expired");
    expect(again.headers.get("idempotency-replayed")).toBeNull();
  });

  test("the amount is above what was authorized, and the same key may correct it", async () => {
    const id = await http.authorize();
    const { maxAmount } = expectProblem(
      await http.capture(id, "k", { amount: 1_001 }),
      422,
      "amount_exceeds_authorized",
    );
    expect(maxAmount).toBe(1_000);
    expect((await http.capture(id, "k", { amount: 1_000 })).status).toBe(201);
  });

  test("another currency", async () => {
    const id = await http.authorize();
    const { currency } = expectProblem(
      await http.capture(id, "k", { currency: "usd" }),
      422,
      "currency_mismatch",
    );
    expect(currency).toBe("EUR");
  });
});

describe("what the gateway says", () => {
  test("captured", async () => {
    const id = await http.authorize();
    const { status, headers, body } = await http.capture(id, "k", { amount: 700 });
    expect(status).toBe(201);
    expect(headers.get("retry-after")).toBeNull();
    expect(body.capture).toMatchObject({ status: "succeeded", amount: 700, failureCode: null });
    expect(body.payment).toMatchObject({
      status: "captured",
      amount: 1_000,
      amountCaptured: 700,
      amountCapturable: 0,
      amountRefunded: 0,
      captures: [body.capture],
      refunds: [],
    });
  });

  test("without a body all of it is captured", async () => {
    const id = await http.authorize();
    const { status, body } = await http.call("POST", `/payments/${id}/capture`, {
      headers: { "idempotency-key": "k" },
    });
    expect({ status, amount: body.capture.amount }).toEqual({ status: 201, amount: 1_000 });
  });

  test("declined: the key is bound, the payment can be captured with another", async () => {
    const id = await http.authorize({ paymentMethod: "tok_capture_decline" });
    const first = await http.capture(id, "k");
    expectProblem(first, 402, "capture_declined");
    expect(first.headers.get("idempotency-replayed")).toBeNull();
    const again = await http.capture(id, "k");
    expectProblem(again, 402, "capture_declined");
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await http.get(`/payments/${id}`)).body.payment).toMatchObject({
      status: "authorized",
      captures: [{ status: "failed", failureCode: "capture_declined" }],
    });
  });

  test("the authorization is gone: expired, for this key for ever", async () => {
    const id = await http.authorize({ paymentMethod: "tok_authorization_gone" });
    expectProblem(await http.capture(id, "k"), 409, "payment_expired");
    const again = await http.capture(id, "k");
    expectProblem(again, 409, "payment_expired");
    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await http.get(`/payments/${id}`)).body.payment.status).toBe("expired");
  });

  test("not reached: nothing happened, and the same key may try again", async () => {
    const id = await http.authorize({ paymentMethod: "tok_unreachable" });
    expectProblem(await http.capture(id, "k"), 503, "gateway_unavailable", "5");
    expect((await http.get(`/payments/${id}`)).body.payment).toMatchObject({
      status: "authorized",
      captures: [],
    });
    const again = await http.capture(id, "k");
    expect(again.status).toBe(201);
    expect(again.headers.get("idempotency-replayed")).toBeNull();
  });

  test("it takes the order and decides later: accepted, pending, and asked about by the same key", async () => {
    const id = await http.authorize({ paymentMethod: "tok_capture_pending" });
    for (let time = 0; time < 2; time += 1) {
      const { status, headers, body } = await http.capture(id, "k");
      expect(status).toBe(202);
      expect(headers.get("retry-after")).toBe("300");
      expect(body).toMatchObject({
        capture: { status: "pending", settledAt: null },
        payment: { status: "capturing" },
      });
    }
    const other = await http.capture(id, "other");
    expectProblem(other, 409, "capture_in_progress", "300");
    expect(other.body).toMatchObject({
      operationStatus: "pending",
      detail: expect.stringContaining("has taken another capture"),
    });
    http.world.clock.advance(3_600_000);
    expect(await http.capture(id, "k")).toMatchObject({
      status: 201,
      body: { capture: { status: "succeeded" } },
    });
  });

  test.each(["tok_timeout_captured", "tok_error_500", "tok_late_60000"])(
    "nothing that settles it (%s): accepted, the outcome is unknown",
    async (paymentMethod) => {
      const id = await http.authorize({ paymentMethod });
      const { status, headers, body } = await http.capture(id, "k");
      expect(status).toBe(202);
      expect(headers.get("retry-after")).toBe("2");
      expect(headers.get("idempotency-replayed")).toBeNull();
      expect(body.capture.status).toBe("unknown");
    },
  );
});

describe("the service cannot", () => {
  test("its store is down", async () => {
    const down = () => Promise.reject(new StoreUnavailableError("postgres://10.0.0.1 refused"));
    const payments = Object.assign(new InMemoryPaymentRepository(), { find: down, ping: down });
    await open({ payments });
    const answer = await http.capture(unknownId, "k");
    expect(expectProblem(answer, 503, "service_unavailable").outcome).toBe("none");
    expect(JSON.stringify(answer.body)).not.toContain("postgres");
    const { dependencies } = expectProblem(await http.get("/readyz"), 503, "service_unavailable");
    expect(dependencies).toEqual({ store: "down" });
  });

  test("its store fails once the intent may be stored: nobody knows, and the same key tells", async () => {
    const id = await http.authorize();
    const answers = loseAnswers(http.world);
    const { outcome } = expectProblem(await http.capture(id, "k"), 503, "service_unavailable");
    expect(outcome).toBe("unknown");
    answers.comeBack();
    const { status, body } = await http.capture(id, "k");
    expect({ status, captured: body.payment.amountCaptured }).toEqual({ status: 201, captured: 1_000 });
    expect(await http.timesCaptured(id)).toBe(1);
  });

  test("it is shutting down: nothing new begins, and whoever waits for a lock leaves", async () => {
    const id = await http.authorize();
    const gate = new Gate();
    const inside = occupied(id, gate);
    const waiting = http.capture(id, "k");
    await until(() => http.lockEvents.includes("wait_started"));
    http.lifecycle.drain();
    expectProblem(await waiting, 503, "service_unavailable");
    expectProblem(await http.capture(id, "k"), 503, "service_unavailable");
    gate.open();
    await inside;
    expect(http.world.gateway.calls).toEqual(["authorize"]);
  });

  test("an error that nobody foresaw tells its request id and nothing else", async () => {
    const payments = Object.assign(new InMemoryPaymentRepository(), {
      find: () => Promise.reject(new Error("a secret of the house")),
    });
    await open({ payments });
    const answer = await http.capture(unknownId, "k");
    const { requestId } = expectProblem(answer, 500, "internal_error");
    expect(JSON.stringify(answer.body)).not.toContain("secret of the house");
    const logged = http.logLines.filter((line) => line.includes("a secret of the house"));
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain(requestId);
  });
});

/** Held while the intent is written, lost when it is about to be sent. */
function lostAfterIntent(hold: LockHold): LockHold {
  let asked = 0;
  return Object.assign(Object.create(hold) as LockHold, {
    assertHeld: () => {
      asked += 1;
      if (asked > 1) throw new LockLostError(hold.resourceId, "the lease ran out");
    },
  });
}
