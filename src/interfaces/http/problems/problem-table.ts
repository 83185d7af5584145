import type { LockErrorCode } from "../../../application/ports/lock-errors";
import type { SandboxErrorCode } from "../../../application/sandboxes/sandbox-errors";
import type { InvalidValueCode, PaymentErrorCode } from "../../../domain/payment/errors";
import type { SecretsKeyError } from "../../../application/ports/events/secret-box";
import type { WebhookErrorCode } from "../../../domain/webhooks/errors";
import type { GatewayEventErrorCode } from "../../../application/ports/gateway-events/gateway-event-source";
import type { RequestErrorCode } from "./request-error";

/** Everything that the layers below and the routes can fail with. */
export type ErrorCode =
  | PaymentErrorCode
  | InvalidValueCode
  | LockErrorCode
  | RequestErrorCode
  | SandboxErrorCode
  | WebhookErrorCode
  | GatewayEventErrorCode
  | SecretsKeyError["code"]
  | "snapshot_store_unavailable"
  | "unauthorized"
  | "invalid_cursor"
  | "version_conflict"
  | "service_unavailable"
  | "internal_error";

export interface ProblemKind {
  readonly status: number;
  readonly title: string;
  /** Whether the same request may succeed later, without any change to it. */
  readonly retryable: boolean;
  readonly retryAfterSeconds?: number | undefined;
}

/** Told under another code, because the difference means nothing to a caller. */
interface ToldAs<Code extends ErrorCode> {
  readonly toldAs: Code;
}

/** Somebody is inside, and will soon be out. */
const LOCK_SECONDS = 1;
/** The gateway is asked about an open operation at most every two seconds. */
export const IN_PROGRESS_SECONDS = 2;
/** As the gateway itself is asked: what it decides later is seldom decided within seconds. */
export const PENDING_SECONDS = 300;
const GATEWAY_SECONDS = 5;
const READERS_SECONDS = 5;

const final = (status: number, title: string): ProblemKind => ({ status, title, retryable: false });
const passing = (status: number, title: string, retryAfterSeconds?: number): ProblemKind => ({
  status,
  title,
  retryable: true,
  retryAfterSeconds,
});

/** The one place where a code becomes a status. A code without an entry does not compile. */
export const problemTable = {
  unauthorized: final(401, "No valid API key"),
  form_of_another_site: final(403, "Form of another site"),
  operator_key_required: final(403, "Operator key required"),

  invalid_payment_id: final(400, "Not a payment id"),
  invalid_operation_id: final(400, "Not an operation id"),
  idempotency_key_required: final(400, "Idempotency key missing"),
  invalid_idempotency_key: final(400, "Not an idempotency key"),
  invalid_request: final(400, "Invalid request"),
  invalid_event_cursor: final(400, "Not a cursor of the feed"),
  invalid_event_type: final(400, "No such type of event"),
  invalid_limit: final(400, "Not a limit"),
  invalid_wait: final(400, "Not a time to wait"),
  invalid_cursor: { toldAs: "invalid_request" },
  invalid_currency: { toldAs: "invalid_request" },
  invalid_amount: { toldAs: "invalid_request" },
  invalid_merchant: { toldAs: "invalid_request" },
  gateway_signature_missing: final(400, "No signature of the gateway"),
  gateway_signature_invalid: final(400, "Not the gateway's signature"),
  gateway_signature_expired: final(400, "Signature of another time"),
  gateway_event_invalid: final(400, "Not an event of the gateway"),
  malformed_json: final(400, "Malformed JSON"),
  malformed_request: final(400, "Malformed request"),
  route_not_found: final(404, "No such route"),
  method_not_allowed: final(405, "Method not allowed"),
  request_timeout: passing(408, "Request not received in time"),
  precondition_failed: final(412, "Precondition failed"),
  body_too_large: final(413, "Body too large"),
  unsupported_media_type: final(415, "Unsupported media type"),
  headers_too_large: final(431, "Headers too large"),

  payment_not_found: final(404, "No such payment"),
  payment_already_captured: final(409, "Payment already captured"),
  payment_not_capturable: final(409, "Payment cannot be captured"),
  payment_not_voidable: final(409, "Payment cannot be voided"),
  payment_not_refundable: final(409, "Payment cannot be refunded"),
  payment_expired: final(409, "Authorization expired"),
  payment_voided: final(409, "Payment voided"),
  amount_exceeds_authorized: final(422, "Amount exceeds what is authorized"),
  amount_exceeds_captured: final(422, "Amount exceeds what is captured"),
  currency_mismatch: final(422, "Currency does not match the payment"),
  authorization_declined: final(402, "Authorization declined"),
  capture_declined: final(402, "Capture declined"),
  capture_not_begun: passing(503, "Capture not begun", LOCK_SECONDS),
  void_declined: final(402, "Void declined"),
  refund_declined: final(402, "Refund declined"),

  idempotency_key_reused: final(422, "Idempotency key used for another request"),
  idempotency_key_in_use: passing(409, "Idempotency key in use", IN_PROGRESS_SECONDS),
  authorize_in_progress: passing(409, "Authorization in progress", IN_PROGRESS_SECONDS),
  capture_in_progress: passing(409, "Capture in progress", IN_PROGRESS_SECONDS),
  void_in_progress: passing(409, "Void in progress", IN_PROGRESS_SECONDS),
  refund_in_progress: passing(409, "Refund in progress", IN_PROGRESS_SECONDS),
  payment_busy: passing(409, "Payment busy", LOCK_SECONDS),
  version_conflict: { toldAs: "payment_busy" },

  lock_timeout: passing(503, "Payment locked", LOCK_SECONDS),
  lock_contended: { toldAs: "lock_timeout" },
  lock_unavailable: passing(503, "Lock service unavailable", LOCK_SECONDS),
  lock_lost: passing(503, "Lock lost", LOCK_SECONDS),
  // Only while shutting down: to a caller that hung up nothing is told at all.
  wait_cancelled: { toldAs: "service_unavailable" },
  lock_reentrancy: { toldAs: "internal_error" },
  lock_permits: { toldAs: "internal_error" },
  operation_not_found: final(404, "No such operation"),
  operation_not_in_review: final(409, "Operation not in review"),
  review_contradicts_payment: final(409, "Verdict contradicts the payment"),
  review_contradicts_gateway: final(409, "Verdict contradicts the gateway"),
  gateway_reference_required: final(422, "Gateway reference required"),
  authorization_not_found: final(404, "No such authorization at the gateway"),
  authorization_not_capturable: final(409, "Authorization cannot be captured"),
  authorization_already_imported: final(409, "Authorization already imported"),
  invalid_webhook_endpoint_id: final(400, "Not a webhook endpoint's id"),
  invalid_webhook_delivery_id: final(400, "Not a webhook delivery's id"),
  invalid_webhook_cursor: final(400, "Not a cursor of this list"),
  webhook_url_malformed: final(400, "Not a webhook's URL"),
  webhook_url_not_https: final(400, "Webhook URL without TLS"),
  webhook_url_has_credentials: final(400, "Webhook URL with credentials"),
  webhook_url_port_forbidden: final(400, "Webhook URL with a forbidden port"),
  webhook_url_address_forbidden: final(400, "Webhook URL leads to a forbidden address"),
  webhook_type_unknown: final(400, "No such type of event"),
  webhook_endpoint_not_found: final(404, "No such webhook endpoint"),
  webhook_delivery_not_found: final(404, "No such webhook delivery"),
  webhook_endpoint_limit_reached: final(409, "Too many webhook endpoints"),
  webhook_endpoint_busy: passing(409, "Webhook endpoint changed meanwhile", LOCK_SECONDS),
  webhook_endpoint_disabled: final(409, "Webhook endpoint disabled"),
  rotation_under_way: final(409, "Rotation of the secret under way"),
  webhook_delivery_pending: final(409, "Webhook delivery under way"),
  webhook_replay_too_long: final(422, "Too many events to replay at once"),
  secrets_key_missing: final(503, "No key for secrets"),
  secrets_key_wrong: final(503, "Another key for secrets"),
  invalid_sandbox_id: final(400, "Not a sandbox id"),
  sandbox_not_found: final(404, "No such sandbox"),
  snapshot_not_found: final(404, "No such snapshot"),
  sandbox_contended: passing(409, "Sandbox being handed over", IN_PROGRESS_SECONDS),
  sandbox_full: final(409, "Sandbox full"),
  sandbox_too_large: final(409, "Sandbox too large to be checkpointed"),
  snapshot_damaged: final(409, "Snapshot damaged"),
  snapshot_missing: final(409, "Snapshot missing"),
  sandbox_elsewhere: final(421, "Sandbox at another instance"),
  clock_not_movable: final(422, "Clock cannot be moved there"),
  sandbox_limit_reached: passing(503, "Sandbox limit reached", IN_PROGRESS_SECONDS),
  too_many_readers: passing(503, "Too many readers are waiting", READERS_SECONDS),
  sandbox_lost: passing(503, "Sandbox lost", LOCK_SECONDS),
  snapshot_store_unavailable: passing(503, "Snapshot store unavailable", IN_PROGRESS_SECONDS),
  gateway_unavailable: passing(503, "Payment gateway unavailable", GATEWAY_SECONDS),
  // Not the caller's fault, and not by itself over: neither 4xx nor worth another try.
  gateway_access_refused: final(502, "Payment gateway refuses access"),
  service_unavailable: passing(503, "Service unavailable"),
  // With an idempotency key it is always safe to ask again.
  internal_error: passing(500, "Internal error"),
} as const satisfies Record<ErrorCode, ProblemKind | ToldAs<ErrorCode>>;

/** The codes that callers can meet. */
export type ProblemCode = {
  [Code in ErrorCode]: (typeof problemTable)[Code] extends ProblemKind ? Code : never;
}[ErrorCode];

export function problemCodeOf(code: ErrorCode): ProblemCode {
  const entry: ProblemKind | ToldAs<ProblemCode> = problemTable[code];
  return "toldAs" in entry ? entry.toldAs : (code as ProblemCode);
}

export function problemKind(code: ProblemCode): ProblemKind {
  return problemTable[code];
}

/** In the order of the table. */
export const problemCodes = (Object.keys(problemTable) as ErrorCode[]).filter(
  (code): code is ProblemCode => problemCodeOf(code) === code,
);
