import { amountRefunded, operationOf, openOperationOf } from "../../../src/domain/payment/payment";
import type { FindAnswer } from "../../../src/application/ports/payment-gateway";
import { ReviewOperations } from "../../../src/application/use-cases/review-operations";
import type { OperationId, PaymentId } from "../../../src/domain/identifiers";
import type { OperationKind } from "../../../src/domain/payment/operation";
import type { ReviewVerdict } from "../../../src/domain/payment/facts";
import { settleOperation } from "../../../src/application/operations/settle-operation";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const MOST_QUESTIONS = 20;

function sendsOf(world: PaymentsWorld): string[] {
  return world.gateway.calls.filter((call) => call !== "find" && call !== "picture");
}

const pending: FindAnswer = { outcome: "pending" };
const silence: FindAnswer = { outcome: "unknown", reason: "http_503" };
const refused: FindAnswer = { outcome: "declined", reason: "insufficient_funds" };

async function operationIdOf(world: PaymentsWorld, id: PaymentId, kind: OperationKind): Promise<OperationId> {
  const found = (await world.payment(id)).facts.operations.findLast((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found.id;
}

/** Lets time pass while every question is answered so: the open operation is in review afterwards. */
async function untilReview(world: PaymentsWorld, id: PaymentId, answer: FindAnswer): Promise<void> {
  world.gateway.answersQuestions(answer);
  for (let step = 0; step < MOST_QUESTIONS; step += 1) {
    const { status, dueAt } = openOperationOf(await world.payment(id)) ?? {};
    if (status === "needs_review") break;
    world.clock.advance((dueAt?.getTime() ?? NaN) - world.clock.now().getTime());
    await world.reconcile();
  }
  expect(openOperationOf(await world.payment(id))?.status).toBe("needs_review");
}

/** A refund of 300 out of 1000 whose answer was lost, and that the gateway calls pending for longer than it may. */
async function pendingRefund(world: PaymentsWorld): Promise<PaymentId> {
  const id = await world.captured("tok_refund_timeout_captured");
  await world.refund(id, "first", { amount: 300n });
  await untilReview(world, id, pending);
  return id;
}

/** How long until the gateway is asked again, for each of the next questions. */
async function waits(world: PaymentsWorld, id: PaymentId, questions: number): Promise<number[]> {
  const found: number[] = [];
  for (let question = 0; question < questions; question += 1) {
    const waitMs =
      (openOperationOf(await world.payment(id))?.dueAt?.getTime() ?? NaN) - world.clock.now().getTime();
    found.push(waitMs);
    world.clock.advance(waitMs - 1);
    const before = world.gateway.calls.length;
    await world.reconcile();
    expect(world.gateway.calls).toHaveLength(before);
    world.clock.advance(1);
    await world.reconcile();
    expect(world.gateway.calls.slice(before)).toEqual(["find"]);
  }
  return found;
}

describeOnEveryStore("an operation in review", (open) => {
  test("an operation in review that succeeds at the gateway after all is not decided wrongly, and cannot be made a second time", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    const operationId = await operationIdOf(world, id, "refund");
    world.gateway.answersQuestions(null);
    await expect(
      world.review(operationId, { outcome: "not_moved", evidence: "nothing there yet" }),
    ).rejects.toMatchObject({
      code: "review_contradicts_gateway",
      facts: { operationId, outcome: "not_moved", gateway: { answer: "succeeded" } },
    });
    // The question for the verdict was put just now, and this one is put two seconds later.
    world.clock.advance(2_000);
    await expect(world.refund(id, "second", { amount: 1_000n })).rejects.toMatchObject({
      code: "amount_exceeds_captured",
      facts: { maxAmount: 700n },
    });
    const payment = await world.payment(id);
    expect(operationOf(payment, operationId)?.status).toBe("succeeded");
    expect(amountRefunded(payment)).toBe(300n);
    expect(await world.timesMoved(id, "refund")).toBe(1);
  });

  test("an operation in review is asked about after 5 min, 1 h, 6 h and then daily, and nothing is ever sent", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    const sent = world.gateway.calls.filter((call) => call === "refund").length;
    expect(await waits(world, id, 6)).toEqual([5 * MINUTE, HOUR, 6 * HOUR, DAY, DAY, DAY]);
    expect(world.gateway.calls.filter((call) => call === "refund")).toHaveLength(sent);
  });

  test.each([
    ["absent", { outcome: "absent" }],
    ["silent", silence],
    ["undecided", pending],
    ["showing something that does not fit", { outcome: "mismatch", evidence: "another amount" }],
  ] as const)("stays there while the gateway is %s, and its history does not grow", async (_what, answer) => {
    const world = await open();
    const id = await pendingRefund(world);
    world.gateway.answersQuestions(answer);
    await waits(world, id, 1);
    const events = await world.eventTypes(id);
    await waits(world, id, 4);
    expect(openOperationOf(await world.payment(id))?.status).toBe("needs_review");
    expect(await world.eventTypes(id)).toEqual(events);
  });

  test("an operation in review is ended by what the gateway says, and the history tells both", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    world.gateway.answersQuestions(null);
    world.clock.advance(5 * MINUTE);
    await world.reconcile();
    const payment = await world.payment(id);
    expect(amountRefunded(payment)).toBe(300n);
    expect(openOperationOf(payment)).toBeUndefined();
    const events = (await world.context.payments.events(id)) ?? [];
    expect(events.slice(-2)).toMatchObject([
      { type: "refund.succeeded", data: { by: { reconciler: true }, gateway: { answer: "succeeded" } } },
      { type: "review.resolved", data: { kind: "refund", outcome: "moved", resolvedBy: "gateway" } },
    ]);
    expect(await world.context.payments.countInReview()).toBe(0);
  });

  test("an operation in review is ended by a refusal that the gateway has recorded, and another key may go on", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    world.gateway.answersQuestions(refused);
    world.clock.advance(5 * MINUTE);
    await world.reconcile();
    expect(await codeOf(world.refund(id, "first", { amount: 300n }))).toBe("refund_declined");
    expect((await world.context.payments.events(id))?.at(-1)).toMatchObject({
      type: "review.resolved",
      data: { outcome: "not_moved", resolvedBy: "gateway" },
    });
    // Taken, and not answered, as this card's refunds are.
    expect(await codeOf(world.refund(id, "second", { amount: 1_000n }))).toBe("unknown");
  });

  test("an operation in review is asked about by its own caller, too, at most every two seconds", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    world.gateway.answersQuestions(silence);
    world.clock.advance(2_000);
    const before = world.gateway.calls.length;
    for (let call = 0; call < 3; call += 1) {
      expect(await codeOf(world.refund(id, "first", { amount: 300n }))).toBe("needs_review");
    }
    expect(world.gateway.calls.slice(before)).toEqual(["find"]);
    world.gateway.answersQuestions(null);
    world.clock.advance(2_000);
    expect(await codeOf(world.refund(id, "first", { amount: 300n }))).toBe("succeeded");
  });

  test("an operation in review does not lose the place in its schedule to impatient callers", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    for (let call = 0; call < 5; call += 1) {
      world.clock.advance(3_000);
      await world.refund(id, "first", { amount: 300n });
    }
    expect(await waits(world, id, 2)).toEqual([5 * MINUTE - 15_000, HOUR]);
  });

  test("an operation in review because something does not fit is told anew when something else does not fit, once", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    world.gateway.answersQuestions({ outcome: "mismatch", evidence: "the amount is 200 eur" });
    await waits(world, id, 3);
    const told = ((await world.context.payments.events(id)) ?? []).filter(
      ({ type }) => type === "operation.needs_review",
    );
    expect(told.map(({ data }) => data["reason"]).at(-1)).toBe("the amount is 200 eur");
    expect(told).toHaveLength(2);
    const { data } = await new ReviewOperations(world.locks, world.context).list({ limit: 10 });
    expect(data).toEqual([expect.objectContaining({ reason: "the amount is 200 eur" })]);
  });

  test("an operation in review whose two answers contradict each other is not asked about: a third one decides nothing", async () => {
    const world = await open();
    const id = await world.captured();
    const operationId = await operationIdOf(world, id, "capture");
    const stored = await world.context.payments.find(id);
    await settleOperation(world.context, stored!, {
      operationId,
      verdict: { outcome: "declined", reason: "no" },
      trace: { gateway: { reason: "no" } },
    });
    expect(openOperationOf(await world.payment(id))).toMatchObject({ status: "needs_review", dueAt: null });
    const before = world.gateway.calls.length;
    world.clock.advance(30 * DAY);
    await world.reconcile();
    expect(await codeOf(world.capture(id, "captured"))).toBe("needs_review");
    expect(world.gateway.calls).toHaveLength(before);
    const { data } = await new ReviewOperations(world.locks, world.context).list({ limit: 10 });
    expect(data).toEqual([
      expect.objectContaining({
        operationId,
        reason: "recorded as succeeded, and then the gateway answered declined: no",
      }),
    ]);
  });
});

describeOnEveryStore("a verdict is compared with what the gateway says just now", (open) => {
  const gone: FindAnswer = { outcome: "authorization_gone", reason: "expired" };
  const done: FindAnswer = { outcome: "succeeded", reference: "re_1" };
  const all: readonly ReviewVerdict["outcome"][] = ["moved", "not_moved", "pending"];
  const fits: readonly (readonly [FindAnswer, readonly ReviewVerdict["outcome"][]])[] = [
    [done, ["moved"]],
    [refused, ["not_moved"]],
    [gone, ["not_moved"]],
    [pending, ["pending"]],
    [{ outcome: "absent" }, all],
    [silence, all],
    [{ outcome: "mismatch", evidence: "another amount" }, all],
  ];
  const pairs = fits.flatMap(([answer, taken]) =>
    all.map((outcome) => [answer.outcome, outcome, answer, taken.includes(outcome)] as const),
  );

  test.each(pairs)("%s, and the person says %s", async (_answer, outcome, answer, isTaken) => {
    const world = await open();
    const id = await pendingRefund(world);
    const operationId = await operationIdOf(world, id, "refund");
    const before = await world.context.payments.find(id);
    world.gateway.answersQuestions(answer);
    const sends = sendsOf(world).length;
    const verdict = world.review(operationId, { outcome, evidence: "the dashboard" });
    if (isTaken) {
      await verdict;
      const event = (await world.context.payments.events(id))?.at(-1);
      expect(event).toMatchObject({
        type: outcome === "pending" ? "review.pending" : "review.resolved",
        data: {
          outcome,
          evidence: "the dashboard",
          gateway: { asked: "find", answer: answer.outcome },
        },
      });
      expect(event?.data).not.toHaveProperty("overrideReason");
      const isOver = outcome !== "pending";
      expect(openOperationOf(await world.payment(id)) === undefined).toBe(isOver);
    } else {
      await expect(verdict).rejects.toMatchObject({
        code: "review_contradicts_gateway",
        facts: { operationId, outcome, gateway: { answer: answer.outcome } },
      });
      expect(await world.context.payments.find(id)).toEqual(before);
    }
    expect(sendsOf(world)).toHaveLength(sends);
  });

  test.each(pairs.filter(([, , , isTaken]) => !isTaken))(
    "%s, and the person overrides it with %s and a reason, which the history keeps",
    async (_answer, outcome, answer) => {
      const world = await open();
      const id = await pendingRefund(world);
      const operationId = await operationIdOf(world, id, "refund");
      world.gateway.answersQuestions(answer);
      const overrideReason = "their support says so, case 77";
      await world.review(operationId, { outcome, overrideReason });
      expect((await world.context.payments.events(id))?.at(-1)).toMatchObject({
        data: { outcome, overrideReason, gateway: { answer: answer.outcome } },
      });
      const status = { moved: "succeeded", not_moved: "failed", pending: "needs_review" }[outcome];
      expect(operationOf(await world.payment(id), operationId)?.status).toBe(status);
    },
  );

  test("still pending: the review goes on, and the next question waits a day", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    await world.review(await operationIdOf(world, id, "refund"), {
      outcome: "pending",
      evidence: "they wait",
    });
    expect(await waits(world, id, 1)).toEqual([DAY]);
    expect(await world.context.payments.countInReview()).toBe(1);
    world.gateway.answersQuestions(null);
    world.clock.advance(DAY);
    await world.reconcile();
    expect(amountRefunded(await world.payment(id))).toBe(300n);
  });

  test("money was reserved: the gateway's reference is taken where the person gives none, and no other one", async () => {
    const world = await open();
    const id = await world.authorize("tok_authorize_timeout_captured");
    const operationId = await operationIdOf(world, id, "authorize");
    await untilReview(world, id, pending);
    world.gateway.answersQuestions(null);
    await expect(world.review(operationId, { gatewayReference: "auth_of_another" })).rejects.toMatchObject({
      code: "review_contradicts_gateway",
    });
    await world.review(operationId);
    expect((await world.payment(id)).facts).toMatchObject({
      status: "authorized",
      authorizationReference: `auth_${operationId}.1`,
    });
  });
});
