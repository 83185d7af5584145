import type { OperationId } from "../identifiers";
import type { KeyedRequest, PaymentFacts } from "./facts";
import type { PaymentLabels } from "../labels";
import type { Payment } from "./payment";
import { asSucceeded, newOperation } from "./record/operation-rows";
import { after, recorded, type Change } from "./record/recorded";
import { begun, type Begun } from "./decide-movement";
import type { Step } from "./step";

export type WantedPayment = PaymentLabels &
  Pick<PaymentFacts, "id" | "merchant" | "amount" | "paymentMethod" | "expiresAt"> &
  /** Left out: in the common account; without an action of the customer. */
  Partial<Pick<PaymentFacts, "gatewayAccount" | "returnUrl">>;

/** A payment whose authorization is about to be sent. */
export function openPayment(wanted: WantedPayment, request: KeyedRequest, step: Step): Begun {
  const { amount } = wanted.amount;
  return begun(blank(wanted, step), { kind: "authorize", request, amount }, step);
}

/** An authorization that was made elsewhere and that the gateway has told us of: there is nothing to send. */
export function importPayment(
  wanted: WantedPayment,
  authorizationReference: string,
  request: KeyedRequest,
  step: Step,
): { readonly payment: Payment; readonly operationId: OperationId } {
  const payment = blank(wanted, step);
  const { amount } = wanted.amount;
  const operation = newOperation(payment, { kind: "authorize", amount, request }, step);
  const told = {
    operationId: operation.id,
    imported: authorizationReference,
    expiresAt: wanted.expiresAt.toISOString(),
  };
  const change: Change = {
    row: asSucceeded(payment, operation, authorizationReference, step),
    status: after(payment, "authorize.succeeded"),
    facts: { authorizedAt: step.now, authorizationReference },
    history: [["payment.authorized", told]],
  };
  return { payment: recorded(payment, change, step), operationId: operation.id };
}

function blank(wanted: WantedPayment, step: Step): Payment {
  const facts: PaymentFacts = {
    gatewayAccount: null,
    returnUrl: null,
    ...wanted,
    status: "authorizing",
    authorizationReference: null,
    actionUrl: null,
    createdAt: step.now,
    authorizedAt: null,
    updatedAt: step.now,
    operations: [],
    disputes: [],
    eventCount: 0,
  };
  return { facts, newEvents: [] };
}
