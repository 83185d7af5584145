import { PaymentError } from "./errors";
import type { Operation } from "./operation";
import { inProgress, openOperationOf, type Payment } from "./payment";
import { withRelease } from "./record/operation-rows";
import { after, recorded, type Change } from "./record/recorded";
import type { Step } from "./step";

/** The clock alone ends an authorization: `expiresAt` itself is already too late. */
export function isLapsed({ facts: { status, expiresAt } }: Payment, now: Date): boolean {
  return (status === "authorized" || status === "authorizing") && now.getTime() >= expiresAt.getTime();
}

/** Lets a lapsed authorization go, and owes the gateway the release of the reserved money, if there can be any. */
export function expire(payment: Payment, step: Step): Payment {
  const open = openOperationOf(payment);
  if (open !== undefined) throw inProgress(payment, open);
  const { status, expiresAt } = payment.facts;
  const change: Change = {
    row: null,
    status: after(payment, "authorization.lapsed"),
    history: [["payment.expired", { expiresAt: expiresAt.toISOString() }]],
  };
  const expired = recorded(payment, change, step);
  return status === "authorized" ? withRelease(expired, step) : expired;
}

export function expiredError(payment: Payment): PaymentError {
  return new PaymentError("payment_expired", { paymentId: payment.facts.id, expiresAt: endOf(payment) });
}

/**
 * When the authorization ended, or will end. One that the gateway no longer has ended by then, whenever it was to end; what
 * was promised stays stored, because a repeated authorization gets the answer of the first.
 */
export function endOf({ facts }: Payment): Date {
  if (facts.status !== "expired") return facts.expiresAt;
  const refused = facts.operations.find(({ failureCode }) => failureCode === "payment_expired");
  return earlier(facts.expiresAt, refused?.settledAt ?? facts.updatedAt);
}

/** The end that an operation met which was refused for it. */
export function endMetBy({ facts }: Payment, { settledAt }: Operation): Date {
  return earlier(facts.expiresAt, settledAt ?? facts.expiresAt);
}

function earlier(one: Date, other: Date): Date {
  return one < other ? one : other;
}
