import type { OperationId, PaymentId } from "../../../src/domain/identifiers";
import { openOperationOf, operationOf } from "../../../src/domain/payment/payment";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";
import { figuresOf } from "../../support/worlds/payments";

interface Case {
  readonly id: PaymentId;
  readonly capture: OperationId;
}

/** Ours is a capture of 400, and others have captured all of the 1000: a person has to decide about ours. */
async function capturedElsewhere(world: PaymentsWorld): Promise<Case> {
  const id = await world.authorize("tok_captured_elsewhere_50");
  world.clock.advance(150);
  expect(await codeOf(world.capture(id, "c", { amount: 400n }))).toBe("needs_review");
  return { id, capture: openOperationOf(await world.payment(id))!.id };
}

/** The payment as the gateway has it: captured once, by others. */
async function expectTheirsToCount(world: PaymentsWorld, { id, capture }: Case): Promise<void> {
  const payment = await world.payment(id);
  expect(figuresOf(payment)).toMatchObject({ visibleStatus: "captured", amountCaptured: 1_000n });
  expect(operationOf(payment, capture)).toMatchObject({ status: "failed", conflicted: false });
  expect(await world.context.payments.countInReview()).toBe(0);
  const stored = await world.context.payments.find(id);
  await world.observe(id);
  expect(await world.context.payments.find(id)).toEqual(stored);
}

describeOnEveryStore("a review of a capture beside one of others", (open) => {
  test("the verdict that ours moved is refused if theirs has another amount, and changes nothing", async () => {
    const world = await open();
    const { id, capture } = await capturedElsewhere(world);
    const before = await world.context.payments.find(id);
    const events = await world.eventTypes(id);
    await expect(world.review(capture, { outcome: "moved" })).rejects.toMatchObject({
      code: "review_contradicts_gateway",
      facts: { operationId: capture, outcome: "moved", gateway: { answer: "mismatch" } },
      message: expect.stringMatching(/just answered mismatch \(.*1000 minor units.*\)\. .*--override\.$/),
    });
    expect(await world.context.payments.find(id)).toEqual(before);
    expect(await world.eventTypes(id)).toEqual(events);
  });

  test("the verdict that ours did not move counts theirs, also after another verdict was refused", async () => {
    const world = await open();
    const review = await capturedElsewhere(world);
    await world.review(review.capture, { outcome: "moved" }).catch(() => {});
    await world.review(review.capture, { outcome: "not_moved" });
    await expectTheirsToCount(world, review);
    expect(await codeOf(world.refund(review.id, "r", { amount: 1_000n }))).toBe("succeeded");
  });

  test("the verdict that ours moved is refused, and changes nothing, where the view of the payment shows only theirs; an override keeps it", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_0");
    world.gateway.next("capture", async () => ({ outcome: "unknown", reason: "timeout" }));
    await world.capture(id, "c");
    await world.observe(id);
    const capture = openOperationOf(await world.payment(id))!.id;
    const before = await world.context.payments.find(id);
    const ownReference = async () => ({ outcome: "succeeded", reference: "ours" }) as const;

    world.gateway.next("find", ownReference);
    await expect(world.review(capture, { outcome: "moved" })).rejects.toMatchObject({
      code: "review_contradicts_gateway",
      facts: {
        ...{ operationId: capture, outcome: "moved" },
        gateway: {
          answer: "mismatch",
          evidence: expect.stringContaining("captured under no operation of ours"),
        },
      },
    });
    expect(await world.context.payments.find(id)).toEqual(before);

    world.gateway.next("find", ownReference);
    await world.review(capture, { outcome: "moved", overrideReason: "the dashboard is wrong" });
    await world.observe(id);
    expect(operationOf(await world.payment(id), capture)).toMatchObject({
      status: "succeeded",
      conflicted: false,
    });
  });

  test("theirs is counted by a later observation if the gateway showed nothing when the verdict was given", async () => {
    const world = await open();
    const review = await capturedElsewhere(world);
    world.gateway.next("picture", async () => ({ outcome: "unknown", reason: "timeout" }));
    await world.review(review.capture, { outcome: "not_moved" });
    expect(figuresOf(await world.payment(review.id))).toMatchObject({ amountCaptured: 0n });
    await world.observe(review.id);
    await expectTheirsToCount(world, review);
  });

  test("theirs is counted although ours was taken for it while the gateway showed nothing", async () => {
    const world = await open();
    const review = await capturedElsewhere(world);
    world.gateway.next("picture", async () => ({ outcome: "unknown", reason: "timeout" }));
    const gatewayReference = await shownReference(world, review.id);
    await world.review(review.capture, { outcome: "moved", gatewayReference });
    await world.observe(review.id);
    expect(operationOf(await world.payment(review.id), review.capture)).toMatchObject({
      status: "needs_review",
      gatewayReference,
    });
    await world.review(review.capture, { outcome: "not_moved" });
    await expectTheirsToCount(world, review);
  });
});

async function shownReference(world: PaymentsWorld, id: PaymentId): Promise<string> {
  const { authorizationReference, amount } = (await world.payment(id)).facts;
  const answer = await world.simulated.picture({
    paymentId: id,
    amount,
    authorizationReference: authorizationReference!,
    timeoutMs: 1_000,
  });
  if (answer.outcome !== "seen" || answer.picture.captured === null) throw new Error("nothing is captured");
  return answer.picture.captured.reference;
}
