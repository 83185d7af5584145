import { observe } from "../../../src/domain/payment/picture/observation";
import { withMovement } from "../../../src/domain/payment/picture/movement-elsewhere";
import { decideCapture, decideAuthorizeAgain } from "../../../src/domain/payment/decide-movement";
import {
  beginnings,
  paymentTransitions,
  type PaymentStatus,
  type PaymentTransition,
} from "../../../src/domain/payment/transitions";
import type { Operation } from "../../../src/domain/payment/operation";
import type { Payment } from "../../../src/domain/payment/payment";
import {
  authorizedPayment,
  begin,
  expiredPayment,
  forged,
  forgedOperation,
  begunBy,
  refusalOf,
  settled,
  step,
  succeeds,
} from "../../support/worlds/payments";

const statuses = Object.keys(paymentTransitions) as PaymentStatus[];

/** All that can happen, said a second time: a change of the table has to be meant. */
const possible: readonly (readonly [PaymentStatus, PaymentTransition, PaymentStatus])[] = [
  ["authorizing", "authorize.succeeded", "authorized"],
  ["authorizing", "authorize.failed", "declined"],
  ["authorizing", "authorize.again", "authorizing"],
  ["authorizing", "authorization.lapsed", "expired"],
  ["authorizing", "void.succeeded", "voided"],
  ["authorizing", "authorization.gone", "expired"],
  ["authorized", "capture.succeeded", "captured"],
  ["authorized", "capture.elsewhere", "captured"],
  ["authorized", "void.succeeded", "voided"],
  ["authorized", "void.elsewhere", "voided"],
  ["authorized", "authorization.gone", "expired"],
  ["authorized", "authorization.lapsed", "expired"],
  ["captured", "refund.succeeded", "captured"],
  ["captured", "refund.corrected", "captured"],
  ["voided", "release.succeeded", "voided"],
  ["expired", "release.succeeded", "expired"],
  ["declined", "release.succeeded", "declined"],
  ["expired", "authorize.again", "authorizing"],
  ["expired", "capture.elsewhere", "captured"],
];

const elsewhere = { reference: "in the dashboard", amount: 100n, operationId: null };
const gone = { outcome: "authorization_gone", reason: "gone" } as const;
const declined = { outcome: "declined", reason: "no" } as const;

/** The steps that make each transition, whatever the payment's status. */
const steps: Record<PaymentTransition, (payment: Payment) => Payment> = {
  "authorize.succeeded": (payment) => settled(opened(payment, { kind: "authorize" }), succeeds()),
  "authorize.failed": (payment) => settled(opened(payment, { kind: "authorize" }), declined),
  "authorize.again": (payment) => {
    const request = begin();
    const { idempotencyKey } = request;
    const unsent = opened(payment, { kind: "authorize", status: "not_sent", idempotencyKey });
    return begunBy(decideAuthorizeAgain(unsent, request, unsent.facts.expiresAt, step())).payment;
  },
  "capture.succeeded": (payment) => settled(opened(payment, { kind: "capture" }), succeeds()),
  "capture.elsewhere": (payment) => withMovement(payment, "capture", elsewhere, step()),
  "void.elsewhere": (payment) => withMovement(payment, "void", elsewhere, step()),
  "void.succeeded": (payment) => settled(opened(payment, { kind: "void" }), succeeds()),
  "refund.succeeded": (payment) => settled(opened(payment, { kind: "refund" }), succeeds()),
  "refund.corrected": (payment) => {
    const refunded = opened(payment, { kind: "refund", status: "succeeded" });
    return observe(refunded, refunded.facts.operations.at(-1)!.id, declined, step());
  },
  "release.succeeded": (payment) =>
    settled(opened(payment, { kind: "void", idempotencyKey: null }), succeeds()),
  "authorization.gone": (payment) => settled(opened(payment, { kind: "capture" }), gone),
  "authorization.lapsed": (payment) => expiredPayment(payment),
};
const transitions = Object.keys(steps) as PaymentTransition[];

function opened(payment: Payment, change: Partial<Operation>): Payment {
  const operation = forgedOperation(payment, { status: "started", settledAt: null, ...change });
  return forged(payment, { operations: [...payment.facts.operations, operation] });
}

function inStatus(status: PaymentStatus): Payment {
  return forged(authorizedPayment(), { status });
}

describe("a payment's statuses", () => {
  const everything = statuses.flatMap((status) =>
    transitions.map((transition) => [status, transition] as const),
  );

  it.each(everything)(
    "%s, when %s comes: what the table says, or an error and nothing",
    (status, transition) => {
      const expected = possible.find(([from, by]) => from === status && by === transition)?.[2];
      const before = inStatus(status);
      if (expected === undefined) expect(() => steps[transition](before)).toThrow("cannot happen");
      else expect(steps[transition](before).facts.status).toBe(expected);
      expect(before.facts.status).toBe(status);
    },
  );

  it("a payment's statuses have exactly these ways between them", () => {
    const table = statuses.flatMap((status) =>
      Object.entries(paymentTransitions[status]).map(([transition, next]) => [status, transition, next]),
    );
    expect(table.sort()).toEqual([...possible].sort());
  });

  it("a payment's statuses can all be reached from the first one", () => {
    const reached = new Set<PaymentStatus>(["authorizing"]);
    for (const status of reached)
      Object.values(paymentTransitions[status]).forEach((next) => reached.add(next));
    expect([...reached].sort()).toEqual([...statuses].sort());
  });

  it("lead on, but for those that are meant to be the end", () => {
    const ends = statuses.filter((status) =>
      Object.values(paymentTransitions[status]).every((next) => next === status),
    );
    // One that was never sent may be sent after its time.
    expect(ends.sort()).toEqual(["captured", "declined", "voided"]);
  });
});

describe("what may begin", () => {
  const expected: Record<PaymentStatus, readonly [capture: string, voiding: string, refund: string]> = {
    authorizing: ["payment_not_capturable", "payment_not_voidable", "payment_not_refundable"],
    authorized: ["ok", "ok", "payment_not_refundable"],
    captured: ["payment_already_captured", "payment_not_voidable", "ok"],
    voided: ["payment_not_capturable", "payment_not_voidable", "payment_not_refundable"],
    expired: ["payment_expired", "payment_not_voidable", "payment_not_refundable"],
    declined: ["payment_not_capturable", "payment_not_voidable", "payment_not_refundable"],
  };

  it.each(statuses)("in status %s is what the table says", (status) => {
    expect([beginnings.capture[status], beginnings.void[status], beginnings.refund[status]]).toEqual(
      expected[status],
    );
  });

  it.each(statuses)("a capture of a payment that is %s begins or is refused as the table says", (status) => {
    const payment = inStatus(status);
    const decision = decideCapture(payment, begin(), {}, step());
    expect(refusalOf(decision) ?? "ok").toBe(expected[status][0]);
    expect(decision.outcome === "begun").toBe(expected[status][0] === "ok");
  });
});
