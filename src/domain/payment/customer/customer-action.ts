import type { OperationId } from "../../identifiers";
import type { OperationFailureCode } from "../errors";
import type { CustomerAction } from "../facts";
import { progressed, type Operation } from "../operation";
import { openOperationOf, type Payment } from "../payment";
import { asFailed, mustBeOpen, withRelease } from "../record/operation-rows";
import { after, recorded, type Change } from "../record/recorded";
import type { Step } from "../step";

/** What gateways say of a card that wants its owner, where there is no way to send them anywhere. */
export const AUTHENTICATION_REQUIRED = "authentication_required";

/** The authorization that waits for the customer, if the payment's does. */
export function waitingForCustomer(payment: Payment): Operation | undefined {
  const open = openOperationOf(payment);
  return open?.status === "requires_action" ? open : undefined;
}

export function isCustomerLate({ decidesBy }: Operation, now: Date): boolean {
  return decidesBy !== null && now.getTime() >= decidesBy.getTime();
}

/**
 * The gateway sends the customer to a page of its own. Said again, it changes the address at most. A caller who has sent no
 * return URL cannot send the customer anywhere: that is a refusal.
 */
export function sendCustomer(
  payment: Payment,
  id: OperationId,
  { reference, url, until }: CustomerAction,
  step: Step,
): Payment {
  const operation = mustBeOpen(payment, id);
  const { facts } = payment;
  if (operation.status === "requires_action") {
    return stillWaiting(payment, id, step, url);
  }
  if (facts.returnUrl === null) return refusedForWantOfReturn(payment, operation, reference, step);
  const decidesBy = earliest(step.schedule.customersEnd, facts.expiresAt, until);
  const change: Change = {
    row: progressed(operation, {
      status: "requires_action",
      gatewayReference: reference,
      attempts: 0,
      askedAt: step.now,
      decidesBy,
      dueAt: earliest(step.schedule.nextOfCustomer(0), decidesBy),
    }),
    status: facts.status,
    facts: { authorizationReference: reference, actionUrl: url },
    history: [["authorize.requires_action", { operationId: id, until: decidesBy.toISOString() }]],
  };
  return recorded(payment, change, step);
}

/** Asked, and the customer has not acted. Only a question that was due uses up a step of the schedule. */
export function stillWaiting(
  payment: Payment,
  id: OperationId,
  step: Step,
  actionUrl = payment.facts.actionUrl,
): Payment {
  const operation = mustBeOpen(payment, id);
  const { schedule } = step;
  const isDue = schedule.isDue(operation);
  const attempts = isDue ? operation.attempts + 1 : operation.attempts;
  const dueAt = isDue
    ? earliest(schedule.nextOfCustomer(attempts), operation.decidesBy ?? undefined)
    : operation.dueAt;
  const row = progressed(operation, { askedAt: step.now, attempts, dueAt });
  return recorded(payment, { row, status: payment.facts.status, facts: { actionUrl }, history: [] }, step);
}

/**
 * The customer has had their time. What they still do at the gateway is let go again by the release: it ends the
 * authorization there, whether anything is reserved by then or not.
 */
export function withoutLateCustomer(payment: Payment, id: OperationId, step: Step): Payment {
  const operation = mustBeOpen(payment, id);
  const expiresAt = operation.decidesBy ?? step.now;
  const failure = { code: "payment_expired", reason: "the customer has not acted in time" } as const;
  const change: Change = {
    row: asFailed(payment, operation, failure, step),
    status: after(payment, "authorization.lapsed"),
    facts: { expiresAt },
    history: [failedEntry(operation, failure), ["payment.expired", { expiresAt: expiresAt.toISOString() }]],
  };
  return withRelease(recorded(payment, change, step), step);
}

/** The caller does not wait for the customer any more. A void of theirs follows in the same step, and ends it at the gateway. */
export function withoutCustomer(payment: Payment, id: OperationId, step: Step): Payment {
  const operation = mustBeOpen(payment, id);
  const failure = { code: "payment_voided", reason: "voided before the customer had acted" } as const;
  const change: Change = {
    row: asFailed(payment, operation, failure, step),
    status: payment.facts.status,
    history: [failedEntry(operation, failure)],
  };
  return recorded(payment, change, step);
}

/** Customers also act where they were not sent, in the app of their bank: so the gateway is told to let go. */
function refusedForWantOfReturn(
  payment: Payment,
  operation: Operation,
  authorizationReference: string,
  step: Step,
): Payment {
  const failure = { code: "authorization_declined", reason: AUTHENTICATION_REQUIRED } as const;
  const change: Change = {
    row: asFailed(payment, operation, failure, step),
    status: after(payment, "authorize.failed"),
    facts: { authorizationReference },
    history: [failedEntry(operation, failure), ["payment.declined", { reason: failure.reason }]],
  };
  return withRelease(recorded(payment, change, step), step);
}

function failedEntry(
  { id }: Operation,
  { code, reason }: { readonly code: OperationFailureCode; readonly reason: string },
): Change["history"][number] {
  return ["authorize.failed", { operationId: id, failureCode: code, reason }];
}

function earliest(first: Date, ...others: readonly (Date | undefined)[]): Date {
  return others.reduce<Date>((least, one) => (one !== undefined && one < least ? one : least), first);
}
