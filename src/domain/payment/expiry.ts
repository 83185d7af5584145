import { PaymentError } from "./errors";
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

export function expiredError({ facts: { id, expiresAt } }: Payment): PaymentError {
  return new PaymentError("payment_expired", { paymentId: id, expiresAt });
}
