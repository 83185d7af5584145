import type { OperationId } from "../../../src/domain/identifiers";
import { decideVoid } from "../../../src/domain/payment/decide-movement";
import { expire } from "../../../src/domain/payment/expiry";
import type { ReviewVerdict } from "../../../src/domain/payment/facts";
import type { Operation } from "../../../src/domain/payment/operation";
import type { Payment } from "../../../src/domain/payment/payment";
import { resolveReview, stillInReview } from "../../../src/domain/payment/review";
import { applyVerdict, releaseInVain, settle, unappliable } from "../../../src/domain/payment/settlement";
import { claimResend, notSent, stillUnknown } from "../../../src/domain/payment/waiting";
import {
  after,
  authorizedPayment,
  authorizingPayment,
  begin,
  begunBy,
  capturedPayment,
  capturingPayment,
  declines,
  expiredPayment,
  inReview,
  NOON,
  openOperation,
  settled,
  step,
  succeeds,
  WEEK_MS,
} from "../../support/worlds/payments";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const gone = { outcome: "authorization_gone", reason: "lapsed there" } as const;
const iso = (ms: number) => after(ms).toISOString();

/** What a step has added to the history, in its whole. */
function news(before: Payment, next: Payment) {
  return next.newEvents.slice(before.newEvents.length).map(({ type, data }) => [type, data]);
}

function last(payment: Payment): Operation {
  return payment.facts.operations.at(-1)!;
}

function voiding(payment = authorizedPayment()): Payment {
  return begunBy(decideVoid(payment, begin(), step())).payment;
}

/** The payment, and what its open operation came to. */
function answered(before: Payment, answer: Parameters<typeof settle>[2]) {
  const next = settled(before, answer);
  return { id: openOperation(before).id, next, told: news(before, next) };
}

describe("the history tells, and tells no more than, what an answer for a key has settled", () => {
  test("an authorization that succeeded is told with the end of its time", () => {
    const { id, told } = answered(authorizingPayment(), succeeds("auth_1"));
    expect(told).toEqual([
      ["authorize.succeeded", { operationId: id, amount: 1000 }],
      ["payment.authorized", { expiresAt: iso(WEEK_MS) }],
    ]);
  });

  test("an authorization that the gateway keeps for a shorter time than was wanted is told with both ends, and why", () => {
    const { next, told } = answered(authorizingPayment(), {
      ...succeeds("auth_1"),
      expiresAt: after(MINUTE),
    });
    expect(told[2]).toEqual([
      "payment.expiry_shortened",
      { wanted: iso(WEEK_MS), expiresAt: iso(MINUTE), reason: "the gateway keeps the money no longer" },
    ]);
    expect(next.facts.expiresAt).toEqual(after(MINUTE));
  });

  test("an authorization that the gateway keeps for exactly as long as was wanted is not told as shortened", () => {
    const { next, told } = answered(authorizingPayment(), {
      ...succeeds("auth_1"),
      expiresAt: after(WEEK_MS),
    });
    expect(told).toHaveLength(2);
    expect(next.facts.expiresAt).toEqual(after(WEEK_MS));
  });

  test("a capture that succeeded is told with its amount, for the operation and for the payment", () => {
    const { id, told } = answered(capturingPayment(authorizedPayment(), 600n), succeeds("cap_1"));
    expect(told).toEqual([
      ["capture.succeeded", { operationId: id, amount: 600 }],
      ["payment.captured", { amount: 600 }],
    ]);
  });

  test("a void that succeeded is told of the operation, with its amount, and of the payment", () => {
    const { id, told } = answered(voiding(), succeeds("void_1"));
    expect(told).toEqual([
      ["void.succeeded", { operationId: id, amount: 1000 }],
      ["payment.voided", {}],
    ]);
  });

  test("an authorization that was declined is told in the gateway's words, for the operation and for the payment", () => {
    const { id, told } = answered(authorizingPayment(), declines("card stolen"));
    expect(told).toEqual([
      ["authorize.failed", { operationId: id, failureCode: "authorization_declined", reason: "card stolen" }],
      ["payment.declined", { reason: "card stolen" }],
    ]);
  });

  test("a capture that was declined leaves the payment authorized, and nothing else is told", () => {
    const { id, next, told } = answered(capturingPayment(), declines("no"));
    expect(told).toEqual([
      ["capture.failed", { operationId: id, failureCode: "capture_declined", reason: "no" }],
    ]);
    expect(next.facts.status).toBe("authorized");
  });

  test.each(["capture", "void"] as const)(
    "a %s of what the gateway has let go by itself has expired as the payment has, and a release is owed",
    (kind) => {
      const { id, next, told } = answered(kind === "capture" ? capturingPayment() : voiding(), gone);
      expect(told).toEqual([
        [`${kind}.failed`, { operationId: id, failureCode: "payment_expired", reason: "lapsed there" }],
        ["payment.expired", { reason: "lapsed there" }],
        ["void.started", { operationId: last(next).id, release: true }],
      ]);
      expect(last(next)).toMatchObject({ status: "started", idempotencyKey: null, dueAt: NOON });
    },
  );

  test("a capture of what others have let go has failed, the void is told as made elsewhere, and no release is owed", () => {
    const { id, next, told } = answered(capturingPayment(), { ...gone, cancelled: true });
    expect(told).toEqual([
      ["capture.failed", { operationId: id, failureCode: "capture_declined", reason: "lapsed there" }],
      ["void.succeeded", { operationId: last(next).id, amount: 1000, origin: "gateway" }],
      ["payment.voided", {}],
    ]);
    expect(last(next)).toMatchObject({
      origin: "gateway",
      status: "succeeded",
      gatewayReference: next.facts.authorizationReference,
    });
    expect(next.facts.status).toBe("voided");
  });

  test("an answer that contradicts the recorded one is told with both, and that a person has to look", () => {
    const before = capturedPayment();
    const { id } = last(before);
    const next = settle(before, id, declines(), step());
    expect(news(before, next)).toEqual([
      ["operation.evidence_conflict", { operationId: id, recorded: "succeeded", answer: "declined" }],
      [
        "operation.needs_review",
        {
          operationId: id,
          kind: "capture",
          reason: "two answers for the same key contradict each other",
        },
      ],
    ]);
    expect(last(next)).toMatchObject({ status: "needs_review", conflicted: true, dueAt: null, attempts: 0 });
  });

  test("the end of a review by the gateway is told with the operation, its kind, and what came of it", () => {
    const before = inReview(capturingPayment());
    const { id } = openOperation(before);
    expect(news(before, settled(before, succeeds("cap_1")))[2]).toEqual([
      "review.resolved",
      { operationId: id, kind: "capture", outcome: "moved", resolvedBy: "gateway" },
    ]);
    expect(news(before, settled(before, declines()))[1]).toEqual([
      "review.resolved",
      { operationId: id, kind: "capture", outcome: "not_moved", resolvedBy: "gateway" },
    ]);
  });

  test("an answer that cannot be recorded is told with why not, and with the gateway's name for what it did", () => {
    const before = capturingPayment();
    const { id } = openOperation(before);
    const kept = (answer: Parameters<typeof settle>[2]) =>
      news(before, unappliable(before, id, { answer, why: "no room" }, step()));
    expect(kept(succeeds("cap_9"))).toEqual([
      [
        "operation.needs_review",
        {
          operationId: id,
          kind: "capture",
          reason: "the gateway answered succeeded, which cannot be recorded: no room",
          gatewayReference: "cap_9",
        },
      ],
    ]);
    expect(kept(declines())[0]![1]).not.toHaveProperty("gatewayReference");
    const next = unappliable(before, id, { answer: succeeds(), why: "no room" }, step());
    expect(last(next)).toMatchObject({ conflicted: true, status: "needs_review", dueAt: null });
    expect(unappliable(next, id, { answer: declines(), why: "no room" }, step())).toBe(next);
  });

  test("an answer that cannot be recorded of a finished operation is told as a contradiction that opens nothing", () => {
    const before = capturedPayment();
    const { id } = last(before);
    const next = unappliable(before, id, { answer: declines(), why: "no room" }, step());
    expect(news(before, next)).toEqual([
      ["operation.evidence_conflict", { operationId: id, recorded: "succeeded", answer: "declined" }],
    ]);
    expect(last(next)).toMatchObject({ status: "succeeded", conflicted: true });
  });
});

describe("the history tells of a release that nobody waits for", () => {
  test("a release that succeeded is told as one, and the payment stays what it was", () => {
    const { id, next, told } = answered(expiredPayment(), succeeds("void_1"));
    expect(told).toEqual([["void.succeeded", { operationId: id, release: true }]]);
    expect(next.facts.status).toBe("expired");
  });

  test("what is gone was let go: a release has succeeded by that, under no name", () => {
    const { next } = answered(expiredPayment(), gone);
    expect(last(next)).toMatchObject({ status: "succeeded", gatewayReference: null });
  });

  test("a refused release is told with the key that is tried next, and begins anew under it", () => {
    const { id, next, told } = answered(expiredPayment(), declines("busy"));
    expect(told).toEqual([["void.failed", { operationId: id, release: true, reason: "busy", nextKey: 2 }]]);
    expect(last(next)).toMatchObject({
      n: 2,
      attempts: 1,
      status: "unknown",
      firstSentAt: null,
      askedAt: next.facts.updatedAt,
      dueAt: after(5 * SECOND, next.facts.updatedAt),
      decidesBy: null,
    });
  });

  test("a release that was refused in all its attempts goes before a person, who reads how often and why", () => {
    let payment = expiredPayment();
    let before = payment;
    for (let tries = 0; last(payment).status !== "needs_review"; tries += 1) {
      expect(tries).toBeLessThan(20);
      before = payment;
      payment = settled(payment, declines("busy"));
    }
    const { id } = last(payment);
    expect(news(before, payment)).toEqual([
      ["void.failed", { operationId: id, release: true, reason: "busy" }],
      [
        "operation.needs_review",
        {
          operationId: id,
          kind: "void",
          release: true,
          reason: "the money was not let go in 13 attempts: busy",
        },
      ],
    ]);
    expect(last(payment).dueAt).toEqual(payment.facts.updatedAt);
    expect(settle(payment, id, declines("busy"), step())).toBe(payment);
  });

  test("a release of money that was taken has failed, and is told as in vain", () => {
    const before = expiredPayment();
    const { id } = openOperation(before);
    const next = releaseInVain(before, id, "cap_9 took it", step());
    expect(news(before, next)).toEqual([
      [
        "void.failed",
        { operationId: id, release: true, failureCode: "void_declined", reason: "cap_9 took it" },
      ],
    ]);
    expect(last(next)).toMatchObject({ status: "failed", failureCode: "void_declined" });
    expect(next.facts.status).toBe("expired");
  });
});

describe("the history tells what is not known", () => {
  test("an answer that settles nothing is told with why and the next question, once for each step of the schedule", () => {
    const before = capturingPayment();
    const { id } = openOperation(before);
    const first = stillUnknown(before, id, "no answer", step());
    expect(news(before, first)).toEqual([
      ["capture.unknown", { operationId: id, reason: "no answer", dueAt: iso(5 * SECOND) }],
    ]);
    const impatient = stillUnknown(first, id, "no answer", step(after(SECOND)));
    expect(news(first, impatient)).toEqual([]);
    expect(last(impatient)).toMatchObject({
      attempts: 0,
      dueAt: after(5 * SECOND),
      askedAt: after(SECOND),
    });
    const due = stillUnknown(impatient, id, "silence", step(after(5 * SECOND)));
    expect(news(impatient, due)).toEqual([
      ["capture.unknown", { operationId: id, reason: "silence", dueAt: iso(35 * SECOND), again: true }],
    ]);
    expect(last(due)).toMatchObject({ attempts: 1, dueAt: after(35 * SECOND) });
  });

  test("the last question in vain brings an operation before a person, who reads how often was asked and the last reason", () => {
    let payment = capturingPayment();
    const { id } = openOperation(payment);
    let now = NOON;
    for (let asked = 0; last(payment).status !== "needs_review"; asked += 1) {
      expect(asked).toBeLessThan(20);
      payment = stillUnknown(payment, id, "silence", step(now));
      now = last(payment).dueAt!;
    }
    expect(payment.newEvents.at(-1)).toMatchObject({
      type: "operation.needs_review",
      data: {
        operationId: id,
        kind: "capture",
        reason: "the gateway gave no answer in 6 attempts: silence",
      },
    });
  });

  test("a resend is told with its key's number where it was due, and not where a caller is impatient", () => {
    const before = capturingPayment();
    const { id } = openOperation(before);
    const due = claimResend(before, id, step(after(MINUTE)));
    expect(news(before, due)).toEqual([["capture.resent", { operationId: id, n: 1 }]]);
    expect(last(due).firstSentAt).toEqual(NOON);
    expect(news(before, claimResend(before, id, step(after(SECOND))))).toEqual([]);
  });

  test("what was certainly not sent is closed, with the reason, and is due no more", () => {
    const before = capturingPayment();
    const { id } = openOperation(before);
    const next = notSent(before, id, "refused", step());
    expect(news(before, next)).toEqual([["capture.not_sent", { operationId: id, reason: "refused" }]]);
    expect(last(next)).toMatchObject({ status: "not_sent", firstSentAt: null, dueAt: null });
    expect(next.facts.status).toBe("authorized");
  });

  test("what is expired is told with the end of its time, and before its release", () => {
    const before = authorizedPayment();
    const next = expire(before, step(after(WEEK_MS)));
    expect(news(before, next)).toEqual([
      ["payment.expired", { expiresAt: iso(WEEK_MS) }],
      ["void.started", { operationId: last(next).id, release: true }],
    ]);
  });
});

describe("the history tells of a review", () => {
  const verdict = (outcome: ReviewVerdict["outcome"]): ReviewVerdict => ({
    outcome,
    evidence: "statement of 2 March",
    gatewayReference: null,
  });
  const silence = { outcome: "unknown", reason: "no answer" } as const;
  const decide = (payment: Payment, id: OperationId, outcome: ReviewVerdict["outcome"]) =>
    resolveReview(payment, id, { verdict: verdict(outcome), seen: silence }, step());

  test("a person's verdict is told with the evidence, and that it was a person's", () => {
    const before = inReview(capturingPayment());
    const { id } = openOperation(before);
    for (const outcome of ["moved", "not_moved"] as const)
      expect(news(before, decide(before, id, outcome))).toEqual([
        [
          "review.resolved",
          {
            operationId: id,
            kind: "capture",
            outcome,
            evidence: "statement of 2 March",
            resolvedBy: "operator",
          },
        ],
      ]);
    const failed = last(decide(before, id, "not_moved"));
    expect(failed).toMatchObject({ failureCode: "capture_declined", failureReason: "decided in review" });
  });

  test("a verdict that it is still pending ends nothing, and puts the next question off by a day", () => {
    const before = inReview(capturingPayment());
    const { id, attempts } = openOperation(before);
    const next = decide(before, id, "pending");
    expect(news(before, next)).toEqual([
      [
        "review.pending",
        { operationId: id, kind: "capture", outcome: "pending", evidence: "statement of 2 March" },
      ],
    ]);
    expect(last(next)).toMatchObject({
      status: "needs_review",
      attempts: attempts + 1,
      dueAt: after(24 * 60 * MINUTE),
      askedAt: NOON,
    });
  });

  test("a question in vain about what is in review is told where it shows something new only", () => {
    const before = inReview(capturingPayment());
    const { id } = openOperation(before);
    const again = stillInReview(before, id, null, step(after(MINUTE)));
    expect(news(before, again)).toEqual([]);
    expect(last(again)).toMatchObject({ attempts: 0, dueAt: after(5 * MINUTE), askedAt: after(MINUTE) });
    const due = stillInReview(again, id, "another amount", step(after(5 * MINUTE)));
    expect(news(again, due)).toEqual([
      ["operation.needs_review", { operationId: id, kind: "capture", reason: "another amount", again: true }],
    ]);
    expect(last(due)).toMatchObject({ attempts: 1, dueAt: after(65 * MINUTE) });
  });

  test("no verdict about an operation brings an expired authorization back", () => {
    const expired = settled(expiredPayment(), succeeds());
    const [authorize] = expired.facts.operations;
    const doubted = settle(expired, authorize!.id, declines(), step(expired.facts.updatedAt));
    expect(last(doubted).kind).toBe("void");
    const decided = decide(doubted, authorize!.id, "moved");
    expect(decided.facts.status).toBe("expired");
  });

  test("a refused capture of an expired payment leaves it expired", () => {
    const before = answered(capturingPayment(), gone).next;
    const released = settled(before, succeeds());
    const capture = released.facts.operations.find(({ kind }) => kind === "capture")!;
    const doubted = settle(released, capture.id, succeeds("cap_1"), step());
    expect(decide(doubted, capture.id, "not_moved").facts.status).toBe("expired");
  });
});

describe("an answer that does not fit the operation", () => {
  test("a capture for which the gateway wants the customer stays unknown, for nobody is at hand", () => {
    const before = capturingPayment();
    const { id } = openOperation(before);
    const action = { outcome: "requires_action", reference: "auth_1", url: "https://bank.example" } as const;
    const next = applyVerdict(before, id, action, step());
    expect(news(before, next)).toEqual([
      [
        "capture.unknown",
        {
          operationId: id,
          reason: "the gateway wants the customer to act",
          dueAt: iso(5 * SECOND),
        },
      ],
    ]);
  });

  test.each([
    { outcome: "unknown", reason: "?" },
    { outcome: "pending" },
    { outcome: "absent" },
    { outcome: "mismatch", evidence: "another amount" },
    { outcome: "requires_action", reference: "auth_1", url: "https://bank.example" },
  ] as const)("an answer $outcome says nothing new of what waits for a person", (answer) => {
    const before = inReview(capturingPayment());
    expect(applyVerdict(before, openOperation(before).id, answer, step())).toBe(before);
  });

  test("that the gateway does not know a key means nothing where it never said that it does", () => {
    const before = capturingPayment();
    expect(applyVerdict(before, openOperation(before).id, { outcome: "absent" }, step())).toBe(before);
  });

  test("a mismatch brings it before a person, with the evidence and what the gateway calls it", () => {
    const before = capturingPayment();
    const { id } = openOperation(before);
    const answer = { outcome: "mismatch", evidence: "another amount", reference: "cap_9" } as const;
    expect(news(before, applyVerdict(before, id, answer, step()))).toEqual([
      [
        "operation.needs_review",
        { operationId: id, kind: "capture", reason: "another amount", gatewayReference: "cap_9" },
      ],
    ]);
  });
});
