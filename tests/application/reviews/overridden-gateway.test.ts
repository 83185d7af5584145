import { settleOperation } from "../../../src/application/operations/settle-operation";
import type { OperationId, PaymentId } from "../../../src/domain/identifiers";
import { isRelease, type OperationKind } from "../../../src/domain/payment/operation";
import { openOperationOf, operationOf } from "../../../src/domain/payment/payment";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { figuresOf } from "../../support/worlds/payments";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const overrideReason = "their support says so, case 77";

async function lastOf(world: PaymentsWorld, id: PaymentId, kind: OperationKind): Promise<OperationId> {
  const found = (await world.payment(id)).facts.operations.findLast((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found.id;
}

/** Insists on the verdict, which is refused without a reason, and checks that observing leaves it at that. */
async function overridden(
  world: PaymentsWorld,
  id: PaymentId,
  operationId: OperationId,
  outcome: "moved" | "not_moved",
): Promise<void> {
  expect(await codeOf(world.review(operationId, { outcome }))).toBe("review_contradicts_gateway");
  await world.review(operationId, { outcome, overrideReason });
  await staysSo(world, id);
}

async function staysSo(world: PaymentsWorld, id: PaymentId): Promise<void> {
  expect(openOperationOf(await world.payment(id))).toBeUndefined();
  const decided = await world.context.payments.find(id);
  const events = await world.eventTypes(id);
  for (let time = 0; time < 2; time += 1) {
    await world.observe(id);
    world.clock.advance(24 * 60 * 60_000);
    await world.reconcile();
  }
  expect(await world.context.payments.find(id)).toEqual(decided);
  expect(await world.eventTypes(id)).toEqual(events);
  expect(await world.context.payments.countInReview()).toBe(0);
}

describeOnEveryStore("what a person has decided against the gateway stays decided", (open) => {
  test("a capture that moved although the gateway shows one of another amount, by others", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_50");
    world.clock.advance(150);
    await world.capture(id, "c", { amount: 400n }).catch(() => {});
    await overridden(world, id, await lastOf(world, id, "capture"), "moved");
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 400n,
    });
    expect(await codeOf(world.refund(id, "r", { amount: 400n }))).toBe("succeeded");
    await staysSo(world, id);
  });

  test("a capture that did not move although the gateway shows it", async () => {
    const world = await open();
    const id = await world.captured();
    const operationId = await lastOf(world, id, "capture");
    await settleOperation(world.context, (await world.context.payments.find(id))!, {
      operationId,
      verdict: { outcome: "declined", reason: "no" },
      trace: {},
    });
    await overridden(world, id, operationId, "not_moved");
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "authorized",
      amountCaptured: 0n,
    });
  });

  test("a void that moved although the gateway shows the money captured", async () => {
    const world = await open();
    const id = await world.authorize("tok_void_captured_elsewhere");
    await world.void(id, "v").catch(() => {});
    await overridden(world, id, await lastOf(world, id, "void"), "moved");
    expect(figuresOf(await world.payment(id))).toMatchObject({ visibleStatus: "voided" });
  });

  test("a void that did not move although the gateway shows the authorization cancelled", async () => {
    const world = await open();
    const id = await world.authorize();
    await world.void(id, "v");
    const operationId = await lastOf(world, id, "void");
    await settleOperation(world.context, (await world.context.payments.find(id))!, {
      operationId,
      verdict: { outcome: "declined", reason: "no" },
      trace: {},
    });
    await world.review(operationId, { outcome: "not_moved", overrideReason });
    await staysSo(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ visibleStatus: "authorized" });
  });

  test("a release that moved although the gateway shows the money captured", async () => {
    const world = await open();
    const id = await world.authorize("tok_void_captured_elsewhere", 1_000n, 60);
    world.gateway.next("picture", async () => ({ outcome: "unknown", reason: "timeout" }));
    world.clock.advance(10 * 60_000);
    await world.expire();
    world.gateway.next("picture", async () => ({ outcome: "unknown", reason: "timeout" }));
    await world.reconcile();
    const release = (await world.payment(id)).facts.operations.find(isRelease)!;
    expect(release.status).toBe("needs_review");
    await overridden(world, id, release.id, "moved");
    expect(operationOf(await world.payment(id), release.id)?.status).toBe("succeeded");
    expect(figuresOf(await world.payment(id))).toMatchObject({ visibleStatus: "expired" });
  });

  test("a refund that moved although the gateway says that it was declined", async () => {
    const world = await open();
    const id = await world.captured();
    world.gateway.next("refund", async () => ({ outcome: "mismatch", evidence: "another amount" }));
    await world.refund(id, "r", { amount: 300n });
    world.gateway.answersQuestions({ outcome: "declined", reason: "no" });
    await world.review(await lastOf(world, id, "refund"), { outcome: "moved", overrideReason });
    const stored = await world.context.payments.find(id);
    world.gateway.answersQuestions(null);
    // The first question is about the refund: that is what fails afterwards.
    world.gateway.next("find", async () => ({ outcome: "declined", reason: "no" }));
    await world.observe(id);
    expect(await world.context.payments.find(id)).toEqual(stored);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 300n });
  });

  test("a capture that stands although more was refunded elsewhere than is left", async () => {
    const world = await open();
    const id = await world.captured();
    await world.refund(id, "r", { amount: 800n });
    const too = {
      reference: "re_9",
      amount: 300n,
      operationId: null,
      state: "succeeded",
      reason: null,
    } as const;
    world.gateway.shows({ refunds: [too] });
    await world.observe(id);
    expect(await world.context.payments.countInReview()).toBe(1);
    await world.review(await lastOf(world, id, "capture"), { outcome: "moved", overrideReason });
    await staysSo(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
      amountRefunded: 800n,
    });
  });

  test("another operation's verdict does not undo it either", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_50");
    world.clock.advance(150);
    await world.capture(id, "c", { amount: 400n }).catch(() => {});
    await world.review(await lastOf(world, id, "capture"), { outcome: "moved", overrideReason });
    world.gateway.next("refund", async () => ({ outcome: "mismatch", evidence: "another amount" }));
    await world.refund(id, "r", { amount: 100n });
    await world.review(await lastOf(world, id, "refund"), { outcome: "not_moved" });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 400n,
    });
    await staysSo(world, id);
  });
});

test("what a person has decided against the gateway stays decided in a payment that comes back from a snapshot", async () => {
  const payments = new InMemoryPaymentRepository();
  const world = new PaymentsWorld({ payments });
  const id = await world.authorize("tok_captured_elsewhere_50");
  world.clock.advance(150);
  await world.capture(id, "c", { amount: 400n }).catch(() => {});
  await world.review(await lastOf(world, id, "capture"), { outcome: "moved", overrideReason });
  payments.restore(JSON.parse(JSON.stringify(payments.snapshot())));
  await staysSo(world, id);
  expect(figuresOf(await world.payment(id))).toMatchObject({ amountCaptured: 400n });
});
