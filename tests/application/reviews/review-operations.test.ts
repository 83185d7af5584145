import { figuresOf } from "../../support/worlds/payments";
import type { SettledAnswer } from "../../../src/domain/payment/facts";
import { settleOperation } from "../../../src/application/operations/settle-operation";
import { VersionConflictError } from "../../../src/application/ports/payment-repository";
import { ReviewOperations } from "../../../src/application/use-cases/review-operations";
import { parseOperationId, type OperationId, type PaymentId } from "../../../src/domain/identifiers";
import type { OperationKind } from "../../../src/domain/payment/operation";
import { amountRefunded, operationOf, visibleStatus } from "../../../src/domain/payment/payment";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { PaymentsWorld } from "../../support/worlds/payments-world";

const success: SettledAnswer = { outcome: "succeeded", reference: "seen_late" };
const refusal: SettledAnswer = { outcome: "declined", reason: "no" };

/** A payment whose operation of this kind the gateway shows in a way that does not fit, from now on. */
async function inReview(world: PaymentsWorld, kind: OperationKind): Promise<PaymentId> {
  const token = `tok_${kind}_timeout_captured`;
  const id = kind === "refund" ? await world.captured(token) : await world.authorize(token);
  if (kind === "capture") await world.capture(id, "k");
  if (kind === "void") await world.void(id, "k");
  if (kind === "refund") await world.refund(id, "k", { amount: 400n });
  world.clock.advance(10_000);
  world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
  await world.reconcile();
  return id;
}

async function operationIdOf(world: PaymentsWorld, id: PaymentId, kind: OperationKind): Promise<OperationId> {
  const found = (await world.payment(id)).facts.operations.findLast((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found.id;
}

/** An answer that comes for an operation after everything, before the gateway falls silent. */
async function answers(world: PaymentsWorld, id: PaymentId, operation: OperationId, answer: SettledAnswer) {
  const stored = await world.context.payments.find(id);
  await settleOperation(world.context, stored!, { operationId: operation, verdict: answer, trace: {} });
  world.gateway.answersQuestions({ outcome: "unknown", reason: "silent" });
}

describe("what waits for a person", () => {
  test("what waits for a person is listed with what is needed to look it up, until somebody decides", async () => {
    const world = new PaymentsWorld();
    const id = await inReview(world, "capture");
    const operationId = await operationIdOf(world, id, "capture");
    const reviews = new ReviewOperations(world.locks, world.context);
    const { data } = await reviews.list({ limit: 10 });
    expect(data).toEqual([
      expect.objectContaining({
        operationId,
        paymentId: id,
        merchant: "acme",
        kind: "capture",
        amount: 1_000n,
        reason: "another amount",
        since: world.clock.now(),
        gatewayKey: `${operationId}.1`,
        authorizationReference: (await world.payment(id)).facts.authorizationReference,
      }),
    ]);
    await world.review(operationId);
    expect(await reviews.list({ limit: 10 })).toEqual({ data: [], nextCursor: null });
  });

  test("what waits for a person is decided after all by an answer that the gateway gives", async () => {
    const world = new PaymentsWorld();
    const id = await inReview(world, "capture");
    await answers(world, id, await operationIdOf(world, id, "capture"), success);
    expect((await world.payment(id)).facts.status).toBe("captured");
  });
});

describe("a verdict", () => {
  test.each([
    ["authorize", "moved", "authorized"],
    ["authorize", "not_moved", "declined"],
    ["capture", "moved", "captured"],
    ["capture", "not_moved", "authorized"],
    ["void", "moved", "voided"],
    ["void", "not_moved", "authorized"],
    ["refund", "moved", "captured"],
    ["refund", "not_moved", "captured"],
  ] as const)("a verdict on a %s: %s leaves the payment %s", async (kind, outcome, status) => {
    const world = new PaymentsWorld();
    const id = await inReview(world, kind);
    const operationId = await operationIdOf(world, id, kind);
    await world.review(operationId, { outcome, gatewayReference: "seen_there" });
    const payment = await world.payment(id);
    expect(visibleStatus(payment)).toBe(status);
    expect(operationOf(payment, operationId)?.status).toBe(outcome === "moved" ? "succeeded" : "failed");
    if (kind === "refund") expect(amountRefunded(payment)).toBe(outcome === "moved" ? 400n : 0n);
  });

  test("a verdict is what the key's caller hears from then on", async () => {
    const world = new PaymentsWorld();
    const id = await inReview(world, "capture");
    await world.review(await operationIdOf(world, id, "capture"), {
      outcome: "not_moved",
      evidence: "nothing there",
    });
    await expect(world.capture(id, "k")).rejects.toMatchObject({
      code: "capture_declined",
      replayed: true,
      facts: { reason: "decided in review" },
      message: "The capture did not happen: an operator decided so in review.",
    });
  });

  test("a verdict lets the payment go on: what it could not do meanwhile, it can again", async () => {
    const world = new PaymentsWorld();
    const id = await inReview(world, "refund");
    await expect(world.refund(id, "other")).rejects.toMatchObject({ code: "refund_in_progress" });
    await world.review(await operationIdOf(world, id, "refund"));
    expect((await world.refund(id, "other")).operation.amount).toBe(600n);
  });

  test("a verdict that money was reserved needs to know what the gateway calls it, and then it can be captured", async () => {
    const world = new PaymentsWorld();
    const id = await inReview(world, "authorize");
    const operationId = await operationIdOf(world, id, "authorize");
    await expect(world.review(operationId)).rejects.toMatchObject({ code: "gateway_reference_required" });
    const gatewayReference = `auth_${operationId}.1`;
    await world.review(operationId, { gatewayReference });
    expect((await world.payment(id)).facts).toMatchObject({
      status: "authorized",
      authorizationReference: gatewayReference,
    });
    expect((await world.capture(id, "k")).operation.status).toBe("succeeded");
  });

  test("a verdict that names another payment's authorization is refused", async () => {
    const world = new PaymentsWorld();
    const other = await world.payment(await world.authorize());
    const id = await inReview(world, "authorize");
    const gatewayReference = other.facts.authorizationReference;
    await expect(
      world.review(await operationIdOf(world, id, "authorize"), { gatewayReference }),
    ).rejects.toMatchObject({ code: "authorization_already_imported", facts: { gatewayReference } });
    expect((await world.payment(id)).facts.status).toBe("authorizing");
  });

  test("a verdict on what nobody doubts, or nobody knows, is refused", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured();
    await expect(world.review(await operationIdOf(world, id, "capture"))).rejects.toMatchObject({
      code: "operation_not_in_review",
      facts: { operationStatus: "succeeded" },
    });
    await expect(world.review(parseOperationId(world.context.ids.nextId()))).rejects.toMatchObject({
      code: "operation_not_found",
    });
  });

  test("a verdict stays in the history: who, what, by which evidence, under which lock", async () => {
    const world = new PaymentsWorld({ locks: new MemoryLockProvider() });
    const id = await inReview(world, "capture");
    await world.review(await operationIdOf(world, id, "capture"), { evidence: "the dashboard" });
    const event = (await world.context.payments.events(id))?.at(-1);
    expect(event).toMatchObject({
      type: "review.resolved",
      at: world.clock.now(),
      data: {
        by: { key: "operator" },
        lock: { fencingToken: expect.any(String), waitedMs: expect.any(Number) },
        kind: "capture",
        outcome: "moved",
        evidence: "the dashboard",
      },
    });
  });

  test("a verdict of two people at once: one decides, the other is told that it is decided", async () => {
    const world = new PaymentsWorld();
    const id = await inReview(world, "capture");
    const operationId = await operationIdOf(world, id, "capture");
    const verdicts = await Promise.allSettled([
      world.review(operationId, { outcome: "moved" }),
      world.review(operationId, { outcome: "not_moved" }),
    ]);
    expect(verdicts.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(verdicts.find(({ status }) => status === "rejected")).toMatchObject({
      reason: { code: "operation_not_in_review" },
    });
  });

  test("a verdict on a payment that others keep writing is told that it is busy", async () => {
    const payments = new InMemoryPaymentRepository();
    const world = new PaymentsWorld({ payments });
    const id = await inReview(world, "capture");
    const operationId = await operationIdOf(world, id, "capture");
    let saves = 0;
    payments.save = async () => {
      saves += 1;
      throw new VersionConflictError(id);
    };
    await expect(world.review(operationId)).rejects.toMatchObject({ code: "payment_busy" });
    expect(saves).toBe(3);
  });
});

describe("an answer that contradicts the one that was recorded", () => {
  test.each([
    ["moved", "captured", 1_000n],
    ["not_moved", "authorized", 0n],
  ] as const)("about a capture: %s leaves it %s", async (outcome, status, amountCaptured) => {
    const world = new PaymentsWorld();
    const id = await world.captured();
    const operationId = await operationIdOf(world, id, "capture");
    await answers(world, id, operationId, refusal);
    expect(operationOf(await world.payment(id), operationId)?.status).toBe("needs_review");
    await world.review(operationId, { outcome });
    expect(figuresOf(await world.payment(id))).toMatchObject({ visibleStatus: status, amountCaptured });
  });

  test("about a capture that was declined, after another one took the money: it cannot have moved, too", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_capture_decline");
    await world.capture(id, "declined").catch(() => undefined);
    const operationId = await operationIdOf(world, id, "capture");
    world.gateway.next("capture", async () => ({ outcome: "succeeded", reference: "cap_other" }));
    await world.capture(id, "other");
    await answers(world, id, operationId, success);
    await expect(world.review(operationId, { outcome: "moved" })).rejects.toMatchObject({
      code: "review_contradicts_payment",
      facts: { paymentStatus: "captured", outcome: "moved" },
    });
    await world.review(operationId, { outcome: "not_moved" });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
    });
  });

  test("about a capture of a payment that has expired since: moved, it is captured after all", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_authorization_gone");
    await world.capture(id, "k").catch(() => undefined);
    const operationId = await operationIdOf(world, id, "capture");
    await world.reconcile();
    await answers(world, id, operationId, success);
    await world.review(operationId, { outcome: "moved" });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
    });
  });

  test("about a void, after the money was captured: it cannot have let it go", async () => {
    const world = new PaymentsWorld();
    const id = await world.authorize("tok_void_decline");
    await world.void(id, "v").catch(() => undefined);
    const operationId = await operationIdOf(world, id, "void");
    await world.capture(id, "c");
    await answers(world, id, operationId, success);
    await expect(world.review(operationId, { outcome: "moved" })).rejects.toMatchObject({
      code: "review_contradicts_payment",
    });
    await world.review(operationId, { outcome: "not_moved" });
    expect((await world.payment(id)).facts.status).toBe("captured");
  });

  test("about a refund, after the rest was given back: it cannot have been more than was captured", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured("tok_refund_decline");
    await world.refund(id, "declined").catch(() => undefined);
    const operationId = await operationIdOf(world, id, "refund");
    world.gateway.next("refund", async () => ({ outcome: "succeeded", reference: "re_other" }));
    await world.refund(id, "other", { amount: 1n });
    await answers(world, id, operationId, success);
    await expect(world.review(operationId, { outcome: "moved" })).rejects.toMatchObject({
      code: "review_contradicts_payment",
    });
  });

  test("an answer that contradicts the one that was recorded that comes while another operation is open waits until that one ends", async () => {
    const world = new PaymentsWorld();
    const id = await world.captured("tok_refund_timeout_captured");
    const operationId = await operationIdOf(world, id, "capture");
    await world.refund(id, "r");
    await answers(world, id, operationId, refusal);
    expect(operationOf(await world.payment(id), operationId)).toMatchObject({
      status: "succeeded",
      conflicted: true,
    });
    expect(await world.eventTypes(id)).toContain("operation.evidence_conflict");
  });
});
