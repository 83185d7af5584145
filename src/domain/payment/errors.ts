import type { OperationKind } from "./operation";

/** Each refusal with the facts a caller needs to act on it. The keys are the stable codes. */
export interface PaymentErrorFacts {
  payment_not_found: { readonly paymentId: string };
  payment_already_captured: { readonly paymentId: string; readonly paymentStatus: string };
  payment_not_capturable: { readonly paymentId: string; readonly paymentStatus: string };
  payment_not_voidable: { readonly paymentId: string; readonly paymentStatus: string };
  payment_not_refundable: { readonly paymentId: string; readonly paymentStatus: string };
  payment_expired: { readonly paymentId: string; readonly expiresAt: Date };
  payment_voided: { readonly paymentId: string };
  amount_exceeds_authorized: { readonly maxAmount: bigint };
  amount_exceeds_captured: { readonly maxAmount: bigint };
  currency_mismatch: { readonly currency: string };
  authorization_declined: { readonly paymentId: string; readonly reason: string };
  capture_declined: { readonly paymentId: string; readonly reason: string };
  void_declined: { readonly paymentId: string; readonly reason: string };
  refund_declined: { readonly paymentId: string; readonly reason: string };
  idempotency_key_reused: { readonly kind: OperationKind };
  idempotency_key_in_use: { readonly kind: OperationKind };
  authorize_in_progress: InProgress;
  capture_in_progress: InProgress;
  void_in_progress: InProgress;
  refund_in_progress: InProgress;
  payment_busy: { readonly paymentId: string };
  operation_not_found: { readonly operationId: string };
  operation_not_in_review: { readonly operationId: string; readonly operationStatus: string };
  review_contradicts_payment: {
    readonly paymentId: string;
    readonly paymentStatus: string;
    readonly outcome: string;
  };
  review_contradicts_gateway: {
    readonly operationId: string;
    readonly outcome: string;
    /** What the gateway said when it was asked just now. */
    readonly gateway: Readonly<Record<string, unknown>> & { readonly answer: string };
  };
  gateway_reference_required: { readonly operationId: string };
  authorization_not_found: { readonly gatewayReference: string };
  authorization_not_capturable: { readonly gatewayReference: string; readonly reason: string };
  authorization_already_imported: { readonly gatewayReference: string };
  gateway_unavailable: { readonly paymentId?: string; readonly reason: string };
  gateway_access_refused: { readonly paymentId?: string; readonly reason: string };
}

export type PaymentErrorCode = keyof PaymentErrorFacts;

/** The codes an operation can fail with for good, and replay for ever. */
export type OperationFailureCode =
  | "authorization_declined"
  | "capture_declined"
  | "void_declined"
  | "refund_declined"
  | "payment_expired"
  | "payment_voided";

/** The reason of a failure that an operator decided upon. The evidence is for operators. */
export const DECIDED_IN_REVIEW = "decided in review";

const sentences: { readonly [Code in PaymentErrorCode]: (facts: PaymentErrorFacts[Code]) => string } = {
  payment_not_found: ({ paymentId }) => `There is no payment ${paymentId}.`,
  payment_already_captured: ({ paymentId }) => `Payment ${paymentId} has been captured by another request.`,
  payment_not_capturable: ({ paymentId, paymentStatus }) =>
    `Payment ${paymentId} is ${paymentStatus}: only an authorized payment can be captured.`,
  payment_not_voidable: ({ paymentId, paymentStatus }) =>
    `Payment ${paymentId} is ${paymentStatus}: only an authorized payment can be voided.`,
  payment_not_refundable: ({ paymentId, paymentStatus }) =>
    `Payment ${paymentId} is ${paymentStatus}: only a captured payment can be refunded.`,
  payment_expired: ({ paymentId, expiresAt }) =>
    `The authorization of payment ${paymentId} expired at ${expiresAt.toISOString()}: authorize a new payment.`,
  payment_voided: ({ paymentId }) =>
    `Payment ${paymentId} was voided before the customer had acted: authorize a new payment.`,
  amount_exceeds_authorized: ({ maxAmount }) => `At most ${maxAmount} minor units are authorized.`,
  amount_exceeds_captured: ({ maxAmount }) => `At most ${maxAmount} minor units are left to refund.`,
  currency_mismatch: ({ currency }) => `The payment's currency is ${currency}.`,
  authorization_declined: ({ reason }) =>
    declined("authorization")({ reason }) +
    (reason === "authentication_required"
      ? " The customer has to act: send `returnUrl` with a new payment, and the customer to its `nextAction`."
      : ""),
  capture_declined: declined("capture"),
  void_declined: declined("void"),
  refund_declined: declined("refund"),
  idempotency_key_reused: ({ kind }) =>
    `This idempotency key belongs to an earlier ${kind} request with different content: use a new key.`,
  idempotency_key_in_use: ({ kind }) =>
    `An earlier ${kind} request with this idempotency key is still in progress: repeat it later.`,
  authorize_in_progress: inProgress("authorization"),
  capture_in_progress: inProgress("capture"),
  void_in_progress: inProgress("void"),
  refund_in_progress: inProgress("refund"),
  payment_busy: ({ paymentId }) =>
    `Payment ${paymentId} was changed by other requests while this one was running: repeat it.`,
  operation_not_found: ({ operationId }) => `There is no operation ${operationId}.`,
  operation_not_in_review: ({ operationId, operationStatus }) =>
    `Operation ${operationId} is ${operationStatus}: it is not under review.`,
  review_contradicts_payment: ({ paymentId, paymentStatus, outcome }) =>
    `Payment ${paymentId} is ${paymentStatus}, which contradicts the verdict ${outcome}: ` +
    "correct the state at the gateway first, then decide about the operation.",
  review_contradicts_gateway: ({ operationId, outcome, gateway }) =>
    `The verdict ${outcome} on operation ${operationId} contradicts the gateway, which has just answered ` +
    `${inShort(gateway)}. Choose another verdict, or say why the gateway is wrong: overrideReason, on the command ` +
    "line --override.",
  gateway_reference_required: ({ operationId }) =>
    `Operation ${operationId} reserved money, but the gateway's reference for it is not known: add gatewayReference.`,
  authorization_not_found: ({ gatewayReference }) =>
    `The gateway has no authorization ${gatewayReference} that names this merchant in its metadata (holdfast_merchant).`,
  authorization_not_capturable: ({ gatewayReference, reason }) =>
    `The authorization ${gatewayReference} cannot be captured: ${reason}.`,
  authorization_already_imported: ({ gatewayReference }) =>
    `The authorization ${gatewayReference} already belongs to another payment.`,
  gateway_unavailable: ({ reason }) =>
    `The payment gateway could not be reached (${reason}). Nothing was sent: repeat the request with the same key.`,
  gateway_access_refused: ({ reason }) =>
    `This service has no access to the account at the payment gateway (${reason}). Nothing was moved, and repeating the ` +
    "request does not help before an operator has restored the access. A payment stays in the account in which it was " +
    "begun: once the merchant has another account, use another key.",
};

/** A payment's refusal. Thrown; becomes a status in exactly one table per interface. */
export class PaymentError<Code extends PaymentErrorCode = PaymentErrorCode> extends Error {
  override readonly name = "PaymentError";

  constructor(
    readonly code: Code,
    readonly facts: PaymentErrorFacts[Code],
    /** True when this refusal was recorded before the request came. */
    readonly replayed = false,
  ) {
    super(sentences[code](facts));
  }
}

export type InvalidValueCode =
  | "invalid_payment_id"
  | "invalid_operation_id"
  | "invalid_merchant"
  | "invalid_idempotency_key"
  | "invalid_currency"
  | "invalid_amount";

/** Something is not the kind of value it should be. Refused before anything is looked up. */
export class InvalidValueError extends Error {
  override readonly name = "InvalidValueError";

  constructor(
    readonly code: InvalidValueCode,
    message: string,
  ) {
    super(message);
  }
}

export interface InProgress {
  readonly paymentId: string;
  /** Given where the gateway has taken the order and decides later. */
  readonly operationStatus?: "pending";
}

function inProgress(what: string): (facts: InProgress) => string {
  return ({ paymentId, operationStatus }) =>
    operationStatus === "pending"
      ? `The gateway has taken another ${what} of payment ${paymentId} and decides later: repeat the request later.`
      : `The outcome of another ${what} of payment ${paymentId} is not known yet: repeat the request later.`;
}

function declined(what: string): (facts: { readonly reason: string }) => string {
  return ({ reason }) =>
    reason === DECIDED_IN_REVIEW
      ? `The ${what} did not happen: an operator decided so in review.`
      : `The gateway declined the ${what}: ${reason}.`;
}

/** The gateway's answer with what it says for it. */
function inShort({ answer, ...said }: PaymentErrorFacts["review_contradicts_gateway"]["gateway"]): string {
  const words = said["evidence"] ?? said["reason"];
  return typeof words === "string" ? `${answer} (${words})` : answer;
}
