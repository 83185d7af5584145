import type { FindAnswer, GatewayAnswer } from "../../../src/application/ports/payment-gateway";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { settleOperation } from "../../../src/application/operations/settle-operation";
import { ReviewOperations } from "../../../src/application/use-cases/review-operations";
import type { PaymentId } from "../../../src/domain/identifiers";
import type { Operation } from "../../../src/domain/payment/operation";
import {
  amountCaptured,
  amountRefunded,
  openOperationOf,
  visibleStatus,
} from "../../../src/domain/payment/payment";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const pending: FindAnswer & GatewayAnswer = { outcome: "pending" };
const silence: FindAnswer = { outcome: "unknown", reason: "http_503" };
const absent: FindAnswer = { outcome: "absent" };

const sendsOf = (world: PaymentsWorld) =>
  world.gateway.calls.filter((call) => call !== "find" && call !== "picture");

async function openOf(world: PaymentsWorld, id: PaymentId): Promise<Operation> {
  const open = openOperationOf(await world.payment(id));
  if (open === undefined) throw new Error("nothing is open");
  return open;
}

async function refundsOf(world: PaymentsWorld, id: PaymentId): Promise<string[]> {
  const { operations } = (await world.payment(id)).facts;
  return operations.filter(({ kind }) => kind === "refund").map(({ status }) => status);
}

/** A refund of 300 out of 1000 that the gateway has taken; all questions are answered so from now on. */
async function pendingRefund(world: PaymentsWorld, answer: FindAnswer | null = pending): Promise<PaymentId> {
  const id = await world.captured("tok_refund_pending");
  world.gateway.next("refund", async (real) => {
    await real();
    return pending;
  });
  const { operation } = await world.refund(id, "r", { amount: 300n });
  expect(operation.status).toBe("pending");
  world.gateway.answersQuestions(answer);
  world.gateway.calls.length = 0;
  return id;
}

/** How long it is until the gateway is asked, for each of the next questions; until the operation is not pending any more. */
async function waits(world: PaymentsWorld, id: PaymentId, questions: number): Promise<number[]> {
  const found: number[] = [];
  for (let question = 0; question < questions; question += 1) {
    const open = openOperationOf(await world.payment(id));
    if (open?.status !== "pending") break;
    const waitMs = (open.dueAt?.getTime() ?? NaN) - world.clock.now().getTime();
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

describeOnEveryStore("an operation that the gateway has taken and decides later", (open) => {
  test.each([
    ["authorize", "tok_authorize_pending", "authorizing"],
    ["capture", "tok_capture_pending", "capturing"],
    ["void", "tok_void_pending", "voiding"],
    ["refund", "tok_refund_pending", "refunding"],
  ] as const)(
    "%s is pending, and what it was asked for when the gateway has decided",
    async (kind, token, shown) => {
      const world = await open();
      const id = await world.authorize(token);
      if (kind === "refund") await world.capture(id, "c");
      if (kind !== "authorize") expect(await codeOf(world[kind](id, "k"))).toBe("pending");
      expect(visibleStatus(await world.payment(id))).toBe(shown);
      const taken = await openOf(world, id);
      expect(taken).toMatchObject({ kind, status: "pending", gatewayReference: expect.any(String) });
      expect(taken.decidesBy).toEqual(new Date(world.clock.now().getTime() + HOUR));
      expect(await world.timesMoved(id, kind)).toBe(0);
      // The first question comes before the decision, the second one after it.
      for (const waitMs of [5 * MINUTE, HOUR]) {
        world.clock.advance(waitMs);
        await world.reconcile();
      }
      expect(openOperationOf(await world.payment(id))).toBeUndefined();
      expect(await world.timesMoved(id, kind)).toBe(1);
      expect(sendsOf(world).filter((call) => call === kind)).toHaveLength(1);
      const own = (await world.payment(id)).facts.operations.find((one) => one.kind === kind);
      expect(own).toMatchObject({
        status: "succeeded",
        gatewayReference: taken.gatewayReference,
        decidesBy: null,
        dueAt: null,
      });
      expect(world.errors).toEqual([]);
    },
  );

  test("is asked about after 5 min, 1 h, 6 h and then daily, until the gateway's limit; only then a person has to look", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    // Seven days, with five minutes for the gateway's clock: the last question is asked then.
    const left = 7 * DAY + 5 * MINUTE - (5 * MINUTE + HOUR + 6 * HOUR + 6 * DAY);
    const asked = await waits(world, id, 20);
    expect(asked).toEqual([5 * MINUTE, HOUR, 6 * HOUR, DAY, DAY, DAY, DAY, DAY, DAY, left]);
    expect(await openOf(world, id)).toMatchObject({ status: "needs_review" });
    expect(sendsOf(world)).toEqual([]);
    const { data } = await new ReviewOperations(world.locks, world.context).list({ limit: 10 });
    expect(data).toMatchObject([
      { reason: expect.stringContaining("has not decided by 2026-03-08T12:00:00.000Z") },
    ]);
  });

  test("is still found out when the review has begun: a pending refund is asked about for as long as it lasts", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    // What was measured before: after seven hours a review, and no further question.
    world.clock.advance(7 * HOUR);
    await world.reconcile();
    expect(await openOf(world, id)).toMatchObject({ status: "pending" });
    await waits(world, id, 20);
    expect(await openOf(world, id)).toMatchObject({ status: "needs_review" });
    world.gateway.answersQuestions(null);
    world.clock.advance(5 * MINUTE);
    await world.reconcile();
    expect(await refundsOf(world, id)).toEqual(["succeeded"]);
    expect((await world.context.payments.events(id))?.at(-1)).toMatchObject({
      type: "review.resolved",
      data: { outcome: "moved", resolvedBy: "gateway" },
    });
    expect(await world.timesMoved(id, "refund")).toBe(1);
    expect(sendsOf(world)).toEqual([]);
  });

  test("goes by the gateway's own limit, and by the time that an answer names", async () => {
    const world = await open();
    Object.assign(world.gateway, { decidesWithinMs: 2 * HOUR });
    const id = await world.captured();
    world.gateway.next("refund", async () => pending);
    const { operation } = await world.refund(id, "r", { amount: 300n });
    const start = world.clock.now().getTime();
    expect(operation.decidesBy).toEqual(new Date(start + 2 * HOUR));
    const decidesBy = new Date(start + 30 * MINUTE);
    world.gateway.answersQuestions({ ...pending, decidesBy });
    expect(await waits(world, id, 5)).toEqual([5 * MINUTE, 30 * MINUTE]);
    expect(await openOf(world, id)).toMatchObject({ status: "needs_review" });
  });

  test("is asked about by its own key and by others, every two seconds at most, and loses no place in its schedule", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    for (let call = 0; call < 4; call += 1) {
      world.clock.advance(1_500);
      expect(await codeOf(world.refund(id, "r", { amount: 300n }))).toBe("pending");
      expect(await codeOf(world.refund(id, "other", { amount: 300n }))).toBe("refund_in_progress");
    }
    // At 3 and at 6 seconds.
    expect(world.gateway.calls).toEqual(["find", "find"]);
    const history = await world.eventTypes(id);
    expect(history.filter((type) => type === "refund.pending")).toHaveLength(1);
    expect(await waits(world, id, 2)).toEqual([5 * MINUTE - 6_000, HOUR]);
  });

  test.each([
    ["silent", silence],
    ["pending", pending],
  ])("stays pending while the gateway is %s, and is not sent again", async (_what, answer) => {
    const world = await open();
    const id = await pendingRefund(world, answer);
    expect(await waits(world, id, 4)).toHaveLength(4);
    expect(await openOf(world, id)).toMatchObject({ status: "pending", n: 1 });
    expect(sendsOf(world)).toEqual([]);
  });

  test("that is forgotten by the gateway is not sent again; when a second question of the schedule shows it, a person looks", async () => {
    const world = await open();
    const id = await pendingRefund(world, absent);
    for (let call = 0; call < 3; call += 1) {
      world.clock.advance(3 * SECOND);
      expect(await codeOf(world.refund(id, "r", { amount: 300n }))).toBe("pending");
    }
    expect(await waits(world, id, 5)).toEqual([5 * MINUTE - 9 * SECOND, HOUR]);
    expect(await openOf(world, id)).toMatchObject({ status: "needs_review" });
    const { data } = await new ReviewOperations(world.locks, world.context).list({ limit: 10 });
    expect(data).toMatchObject([{ reason: expect.stringContaining("now it does not know the operation") }]);
    world.clock.advance(30 * DAY);
    await world.reconcile();
    expect(sendsOf(world)).toEqual([]);
  });

  test("that fails leaves the total as it is; its key is told so for ever, and a new key refunds", async () => {
    const world = await open();
    const id = await world.captured("tok_refund_pending_then_failed");
    expect(await codeOf(world.refund(id, "r"))).toBe("pending");
    expect(await codeOf(world.refund(id, "r2"))).toBe("refund_in_progress");
    world.clock.advance(HOUR);
    await world.reconcile();
    expect(await world.eventTypes(id)).toContain("refund.failed");
    expect(await codeOf(world.refund(id, "r"))).toBe("refund_declined");
    const payment = await world.payment(id);
    expect([amountCaptured(payment), amountRefunded(payment)]).toEqual([1_000n, 0n]);
    world.gateway.next("refund", async () => ({ outcome: "succeeded", reference: "re_2" }));
    expect(await codeOf(world.refund(id, "r2"))).toBe("succeeded");
    expect(await codeOf(world.refund(id, "r"))).toBe("refund_declined");
    expect(await refundsOf(world, id)).toEqual(["failed", "succeeded"]);
  });

  test("is settled at once by an observation, whatever the schedule says, and nothing is sent", async () => {
    const world = await open();
    const id = await world.captured("tok_refund_pending_then_failed");
    await world.refund(id, "r");
    const early = await world.observe(id);
    expect(early.observations.at(-1)).toMatchObject({ seen: { outcome: "pending" }, result: "inconclusive" });
    world.clock.advance(HOUR);
    world.gateway.calls.length = 0;
    const observed = await world.observe(id);
    expect(observed.observations.at(-1)).toMatchObject({ seen: { outcome: "declined" }, result: "settled" });
    expect(await refundsOf(world, id)).toEqual(["failed"]);
    expect(sendsOf(world)).toEqual([]);
  });

  test("is left alone by another refund that fails late, and the other way round", async () => {
    const world = await open();
    const id = await world.captured(`tok_refund_fails_later_${HOUR}`);
    expect(await codeOf(world.refund(id, "first", { amount: 400n }))).toBe("succeeded");
    world.gateway.next("refund", async () => pending);
    expect(await codeOf(world.refund(id, "second", { amount: 300n }))).toBe("pending");
    world.clock.advance(HOUR);
    await world.observe(id);
    expect(await refundsOf(world, id)).toEqual(["failed", "pending"]);
    expect(amountRefunded(await world.payment(id))).toBe(0n);
    world.gateway.answersQuestions({ outcome: "succeeded", reference: "re_2" });
    await world.reconcile();
    expect(await refundsOf(world, id)).toEqual(["failed", "succeeded"]);
    expect(amountRefunded(await world.payment(id))).toBe(300n);
  });

  test("is recorded once by two instances that ask at the same time", async () => {
    const world = await open();
    const id = await world.captured("tok_refund_pending");
    await world.refund(id, "r");
    world.clock.advance(HOUR);
    const other = { ...world.context };
    const both = await Promise.all([
      world.observe(id),
      world.reconcile(),
      codeOf(world.refund(id, "r")),
      new ReviewOperations(world.locks, other).list({ limit: 1 }),
    ]);
    expect(both).toHaveLength(4);
    expect(await refundsOf(world, id)).toEqual(["succeeded"]);
    const told = (await world.eventTypes(id)).filter((type) => type === "refund.succeeded");
    expect(told).toHaveLength(1);
    expect(await world.timesMoved(id, "refund")).toBe(1);
  });

  test("keeps others out under a lock, too, and they hear that it is in progress", async () => {
    const world = await open({ locks: new MemoryLockProvider() });
    const id = await world.authorize("tok_capture_pending");
    const told = await Promise.all(["a", "b", "c"].map((key) => codeOf(world.capture(id, key))));
    expect(told.sort()).toEqual(["capture_in_progress", "capture_in_progress", "pending"]);
    expect(await codeOf(world.void(id, "v"))).toBe("capture_in_progress");
    world.clock.advance(HOUR);
    await world.reconcile();
    expect(await world.timesCaptured(id)).toBe(1);
    expect((await world.payment(id)).facts.status).toBe("captured");
  });

  test("is found out when the process died between the gateway's answer and the store", async () => {
    const world = await open();
    const id = await world.authorize("tok_capture_pending");
    const { payments } = world.context;
    const down = async () => {
      throw new StoreUnavailableError("the disk is full");
    };
    const save = payments.save.bind(payments);
    let saves = 0;
    // The intent is written; what the gateway answers is not.
    payments.save = (...args) => ((saves += 1) === 1 ? save(...args) : down());
    expect(await codeOf(world.capture(id, "k"))).toBe("started");
    payments.save = save;
    expect(await openOf(world, id)).toMatchObject({ kind: "capture", status: "started" });
    world.clock.advance(MINUTE);
    await world.reconcile();
    expect(await openOf(world, id)).toMatchObject({ kind: "capture", status: "pending" });
    world.clock.advance(HOUR);
    await world.reconcile();
    expect((await world.payment(id)).facts.status).toBe("captured");
    expect(sendsOf(world).filter((call) => call === "capture")).toHaveLength(1);
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("is not sent again by a process that is started anew, whoever comes: it asks, and tells the first answer", async () => {
    const world = await open();
    const id = await world.captured("tok_refund_pending");
    await world.refund(id, "r");
    const restarted = new PaymentsWorld({ payments: world.context.payments, gateway: world.gateway });
    for (const waitMs of [3 * SECOND, 5 * MINUTE, HOUR]) {
      expect(await codeOf(restarted.refund(id, "r"))).toBe("pending");
      expect(await codeOf(restarted.refund(id, "other"))).toBe("refund_in_progress");
      for (const { clock } of [world, restarted]) clock.advance(waitMs);
      await restarted.reconcile();
      await restarted.expire();
    }
    expect(await codeOf(restarted.refund(id, "r"))).toBe("succeeded");
    expect(sendsOf(world)).toEqual(["authorize", "capture", "refund"]);
    expect(await world.timesMoved(id, "refund")).toBe(1);
  });

  test("that was sent twice before its answer was known stays pending when the second send meets silence", async () => {
    const world = await open();
    const id = await world.captured("tok_refund_pending");
    world.gateway.next("refund", async (real) => {
      await real();
      return { outcome: "unknown", reason: "timeout" };
    });
    await world.refund(id, "r");
    world.gateway.next("find", async () => absent);
    world.gateway.next("refund", async () => {
      // Meanwhile the other instance has heard what the gateway said.
      const stored = await world.context.payments.find(id);
      const { id: operationId } = openOperationOf(stored!.payment)!;
      await settleOperation(world.context, stored!, { operationId, verdict: pending, trace: {} });
      return { outcome: "unknown", reason: "timeout" };
    });
    world.clock.advance(3 * SECOND);
    expect(await codeOf(world.refund(id, "r"))).toBe("pending");
    expect(await openOf(world, id)).toMatchObject({ status: "pending" });
  });

  test("is a release, too: it is asked about, and not sent under another key", async () => {
    const world = await open();
    const id = await world.authorize("tok_void_pending", 1_000n, 60);
    world.clock.advance(HOUR);
    await world.expire();
    expect(await openOf(world, id)).toMatchObject({ kind: "void", idempotencyKey: null, status: "pending" });
    world.clock.advance(5 * MINUTE);
    await world.reconcile();
    world.clock.advance(HOUR);
    await world.reconcile();
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    expect(sendsOf(world).filter((call) => call === "void")).toHaveLength(1);
    expect(await world.timesMoved(id, "void")).toBe(1);
  });

  test("that is authorized after its time is let go again", async () => {
    const world = await open();
    const id = await world.authorize("tok_authorize_pending", 1_000n, 60);
    world.clock.advance(2 * HOUR);
    await world.expire();
    expect(visibleStatus(await world.payment(id))).toBe("authorizing");
    await world.reconcile();
    await world.expire();
    const { facts } = await world.payment(id);
    expect(facts.status).toBe("expired");
    const books = await world.simulated.authorization(id, facts.authorizationReference ?? "");
    expect(books?.status).toBe("voided");
  });

  test("of which a person says still pending stays in review: who, why and until when are in the history", async () => {
    const world = await open();
    const id = await pendingRefund(world);
    await waits(world, id, 20);
    const { id: operationId } = await openOf(world, id);
    await world.review(operationId, { outcome: "pending", evidence: "their support decides on Friday" });
    const { status, dueAt } = await openOf(world, id);
    expect(status).toBe("needs_review");
    expect(dueAt).toEqual(new Date(world.clock.now().getTime() + DAY));
    expect((await world.context.payments.events(id))?.at(-1)).toMatchObject({
      type: "review.pending",
      data: { by: { key: "operator" }, evidence: "their support decides on Friday", outcome: "pending" },
    });
    // The gateway's picture knows by now.
    world.gateway.answersQuestions(null);
    world.gateway.next("find", async () => silence);
    await expect(world.review(operationId, { outcome: "pending" })).rejects.toMatchObject({
      code: "review_contradicts_gateway",
      facts: { gateway: { answer: "succeeded" } },
    });
  });
});
