import { figuresOf } from "../../support/worlds/payments";
import type { SettledAnswer } from "../../../src/domain/payment/facts";
import { settleOperation } from "../../../src/application/operations/settle-operation";
import type { FindAnswer } from "../../../src/application/ports/payment-gateway";
import { ReviewOperations } from "../../../src/application/use-cases/review-operations";
import type { OperationId, PaymentId } from "../../../src/domain/identifiers";
import { isInReview, type OperationKind } from "../../../src/domain/payment/operation";
import { openOperationOf, operationOf } from "../../../src/domain/payment/payment";
import type { ReviewVerdict } from "../../../src/domain/payment/facts";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;
const success: SettledAnswer = { outcome: "succeeded", reference: "seen_late" };
const refusal: SettledAnswer = { outcome: "declined", reason: "no" };
const pending: FindAnswer = { outcome: "pending" };
const noAnswer = { outcome: "unknown", reason: "timeout" } as const;

async function operationIdOf(world: PaymentsWorld, id: PaymentId, kind: OperationKind): Promise<OperationId> {
  const found = (await world.payment(id)).facts.operations.find((one) => one.kind === kind);
  if (found === undefined) throw new Error(`no ${kind}`);
  return found.id;
}

async function answers(world: PaymentsWorld, id: PaymentId, operation: OperationId, answer: SettledAnswer) {
  const stored = await world.context.payments.find(id);
  const settled = await settleOperation(world.context, stored!, {
    operationId: operation,
    verdict: answer,
    trace: {},
  });
  expect(settled).not.toBeNull();
}

/** Captured and refunded in part, and then the gateway says that the capture never was. */
async function doubtedCapture(world: PaymentsWorld): Promise<PaymentId> {
  const id = await world.captured();
  await world.refund(id, "r", { amount: 200n });
  await answers(world, id, await operationIdOf(world, id, "capture"), refusal);
  return id;
}

async function listed(world: PaymentsWorld, limit: number): Promise<(readonly OperationId[])[]> {
  const reviews = new ReviewOperations(world.locks, world.context);
  const pages: (readonly OperationId[])[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await reviews.list({ limit, ...(typeof cursor === "string" ? { cursor } : {}) });
    pages.push(page.data.map(({ operationId }) => operationId));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}

describeOnEveryStore("a contradicted operation that still counts as finished", (open) => {
  test("a contradicted operation that still counts as finished is listed as the gauge counts it, with both sides, and a person can end it", async () => {
    const world = await open();
    const id = await doubtedCapture(world);
    const operationId = await operationIdOf(world, id, "capture");
    expect(operationOf(await world.payment(id), operationId)).toMatchObject({ status: "succeeded" });
    expect(await world.context.payments.countInReview()).toBe(1);
    const { data } = await new ReviewOperations(world.locks, world.context).list({ limit: 10 });
    expect(data).toEqual([
      expect.objectContaining({
        operationId,
        kind: "capture",
        operation: expect.objectContaining({ status: "succeeded", conflicted: true }),
        reason: "recorded as succeeded, and then the gateway answered declined",
        since: world.clock.now(),
      }),
    ]);
    await expect(
      world.review(operationId, { outcome: "not_moved", overrideReason: "no" }),
    ).rejects.toMatchObject({
      code: "review_contradicts_payment",
    });
    await world.review(operationId, { outcome: "moved" });
    expect(await listed(world, 10)).toEqual([[]]);
    expect(await world.context.payments.countInReview()).toBe(0);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      amountCaptured: 1_000n,
      amountRefunded: 200n,
    });
  });

  test("a contradicted operation that still counts as finished is listed while another operation is open, and can be decided when that one has ended", async () => {
    const world = await open();
    const id = await world.captured("tok_refund_timeout_captured");
    await world.refund(id, "r", { amount: 200n });
    const operationId = await operationIdOf(world, id, "capture");
    await answers(world, id, operationId, refusal);
    expect(await listed(world, 10)).toEqual([[operationId]]);
    expect(await codeOf(world.review(operationId) as never)).toBe("refund_in_progress");
    world.clock.advance(5_000);
    await world.review(operationId);
    expect(await listed(world, 10)).toEqual([[]]);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      amountRefunded: 200n,
      openOperation: undefined,
    });
  });

  test("a contradicted operation that still counts as finished waits for one that has just been sent again, whatever came of it", async () => {
    const world = await open();
    const id = await world.captured();
    // The gateway has never heard of it.
    world.gateway.next("refund", async () => noAnswer);
    await world.refund(id, "r", { amount: 200n });
    const operationId = await operationIdOf(world, id, "capture");
    await answers(world, id, operationId, refusal);
    world.clock.advance(5_000);
    expect(await codeOf(world.review(operationId) as never)).toBe("refund_in_progress");
    expect(await world.timesMoved(id, "refund")).toBe(1);
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
    await world.review(operationId);
    expect(await listed(world, 10)).toEqual([[]]);
  });

  test("a contradicted operation that still counts as finished is listed since its own contradiction, not since another one's", async () => {
    const world = await open();
    const id = await doubtedCapture(world);
    const captureSince = world.clock.now();
    world.clock.advance(1_000);
    await answers(world, id, await operationIdOf(world, id, "refund"), refusal);
    const { data } = await new ReviewOperations(world.locks, world.context).list({ limit: 10 });
    expect(data.map(({ kind, since }) => [kind, since])).toEqual([
      ["capture", captureSince],
      ["refund", world.clock.now()],
    ]);
  });

  test("a contradicted operation that still counts as finished has its place in the pages, which have no holes and leave nothing out", async () => {
    const world = await open();
    const all: OperationId[] = [];
    for (let n = 0; n < 7; n += 1) {
      world.clock.advance(1);
      const id = n % 2 === 0 ? await doubtedCapture(world) : await world.captured();
      const operationId = await operationIdOf(world, id, "capture");
      if (n % 2 === 1) await answers(world, id, operationId, refusal);
      all.push(operationId);
    }
    expect(await world.context.payments.countInReview()).toBe(all.length);
    expect(await listed(world, 3)).toEqual([all.slice(0, 3), all.slice(3, 6), all.slice(6)]);
  });

  test("a contradicted operation that still counts as finished that is decided while the list is read leaves its place to the next one", async () => {
    const world = await open();
    const ids: OperationId[] = [];
    for (let n = 0; n < 4; n += 1) {
      world.clock.advance(1);
      ids.push(await operationIdOf(world, await doubtedCapture(world), "capture"));
    }
    const { payments } = world.context;
    const operationsInReview = payments.operationsInReview.bind(payments);
    payments.operationsInReview = async (query) => {
      payments.operationsInReview = operationsInReview;
      const page = await operationsInReview(query);
      await world.review(ids[0]!);
      return page;
    };
    expect(await listed(world, 2)).toEqual([[ids[1], ids[2]], [ids[3]]]);
  });
});

describeOnEveryStore("a verdict that was wrong while the gateway showed nothing certain", (open) => {
  test("a verdict that was wrong while the gateway showed nothing certain is contradicted by an answer that was on its way, and set right; its key is answered accordingly", async () => {
    const world = await open();
    const id = await world.authorize();
    world.gateway.next("capture", async () => ({ outcome: "mismatch", evidence: "of another customer" }));
    expect(await codeOf(world.capture(id, "c"))).toBe("needs_review");
    const operationId = await operationIdOf(world, id, "capture");
    await world.review(operationId, { outcome: "moved" });
    expect(await codeOf(world.capture(id, "c"))).toBe("succeeded");

    await answers(world, id, operationId, refusal);
    expect(await codeOf(world.capture(id, "c"))).toBe("needs_review");
    expect(await codeOf(world.capture(id, "another"))).toBe("capture_in_progress");
    await world.review(operationId, { outcome: "not_moved" });
    expect(await codeOf(world.capture(id, "c"))).toBe("capture_declined");
    expect((await world.eventTypes(id)).slice(-5)).toEqual([
      "operation.needs_review",
      "review.resolved",
      "operation.evidence_conflict",
      "operation.needs_review",
      "review.resolved",
    ]);
    expect(await world.context.payments.countInReview()).toBe(0);
    expect(await codeOf(world.capture(id, "another"))).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });
});

type Open = OperationKind | "release";

/** Which operation can be contradicted while which other one is open. */
const pairs: readonly (readonly [OperationKind, Open])[] = [
  ["authorize", "capture"],
  ["authorize", "void"],
  ["authorize", "refund"],
  ["authorize", "release"],
  ["capture", "capture"],
  ["capture", "void"],
  ["capture", "refund"],
  ["capture", "release"],
  ["void", "capture"],
  ["void", "void"],
  ["void", "refund"],
  ["void", "release"],
  ["refund", "refund"],
];
const verdicts: readonly ReviewVerdict["outcome"][] = ["moved", "not_moved", "pending"];

/** One operation that was contradicted, and another one that is open: what neither of them may do to the other. */
async function contradictedBeside(world: PaymentsWorld, kind: OperationKind, other: Open) {
  const id = await world.authorize();
  const refuse = async () => ({ outcome: "declined", reason: "no" }) as const;
  if (kind === "refund" || other === "refund") {
    if (kind === "capture") {
      world.gateway.next("capture", refuse);
      await codeOf(world.capture(id, "doubted"));
    }
    if (kind === "void") {
      world.gateway.next("void", refuse);
      await codeOf(world.void(id, "doubted"));
    }
    await world.capture(id, "captured");
    if (kind === "refund") {
      world.gateway.next("refund", refuse);
      await codeOf(world.refund(id, "doubted", { amount: 300n }));
    }
  } else if (kind !== "authorize") {
    world.gateway.next(kind, refuse);
    await codeOf(kind === "capture" ? world.capture(id, "doubted") : world.void(id, "doubted"));
  }
  const doubted = await operationIdOf(world, id, kind);
  const silent = async () => noAnswer;
  if (other === "release") {
    world.clock.advance(2 * HOUR);
    world.gateway.next("void", silent);
    await world.expire();
  } else {
    world.gateway.next(other, silent);
    if (other === "capture") await world.capture(id, "open");
    if (other === "void") await world.void(id, "open");
    if (other === "refund") await world.refund(id, "open", { amount: 800n });
  }
  const beside = openOperationOf(await world.payment(id));
  if (beside === undefined) throw new Error("nothing is open");
  await answers(world, id, doubted, kind === "authorize" ? refusal : success);
  const payment = await world.payment(id);
  expect(isInReview(operationOf(payment, doubted)!)).toBe(true);
  expect(openOperationOf(payment)?.id).toBe(beside.id);
  return { id, doubted, open: beside };
}

describeOnEveryStore("a verdict about one operation while another one is open", (open) => {
  test.each(pairs)("about a %s, beside an open %s: is refused, and that one settles", async (kind, other) => {
    const world = await open();
    for (const outcome of verdicts) {
      const { id, doubted, open: beside } = await contradictedBeside(world, kind, other);
      const before = await world.context.payments.find(id);
      const verdict = () => world.review(doubted, { outcome, overrideReason: "sure" });
      const refused = { code: `${beside.kind}_in_progress` };
      // Asked a moment ago: the row answers.
      await expect(verdict()).rejects.toMatchObject(refused);
      expect(await world.context.payments.find(id)).toEqual(before);
      // Asked about the open one, and nothing else.
      world.clock.advance(3_000);
      world.gateway.answersQuestions(pending);
      const calls = world.gateway.calls.length;
      await expect(verdict()).rejects.toMatchObject(refused);
      expect(world.gateway.calls.slice(calls)).toEqual(["find"]);
      await answers(world, id, beside.id, success);
      expect(operationOf(await world.payment(id), beside.id)?.status).toBe("succeeded");
    }
  });

  test.each(pairs)(
    "about a %s: goes on when the gateway tells what became of the %s",
    async (kind, other) => {
      const world = await open();
      for (const outcome of verdicts) {
        const { id, doubted, open: beside } = await contradictedBeside(world, kind, other);
        world.clock.advance(3_000);
        world.gateway.next("find", async () => ({ outcome: "succeeded", reference: "told" }));
        world.gateway.answersQuestions({ outcome: "absent" });
        const answer = await codeOf(world.review(doubted, { outcome }).then(() => taken));
        expect(["taken", "review_contradicts_payment"]).toContain(answer);
        const payment = await world.payment(id);
        expect(operationOf(payment, beside.id)?.status).toBe("succeeded");
        const isOver = answer === "taken" && outcome !== "pending";
        expect(isInReview(operationOf(payment, doubted)!)).toBe(!isOver);
      }
    },
  );
});

const taken = { operation: { status: "taken" } } as never;
