// Written by `npm run client:types` from the OpenAPI document.

export interface AuditList {
  readonly data: readonly {
    readonly id: string;
    readonly at: string;
    readonly kind:
      | "review.resolved"
      | "review.overridden"
      | "api_key.created"
      | "api_key.revoked"
      | "merchant_account.set"
      | "merchant_account.key_set"
      | "merchant_account.unset"
      | "merchant_account.forgotten"
      | "lock.breaking"
      | "lock.broken"
      | "webhook_endpoint.created"
      | "webhook_endpoint.changed"
      | "webhook_endpoint.enabled"
      | "webhook_endpoint.disabled"
      | "webhook_endpoint.deleted"
      | "webhook_endpoint.secret_rotated"
      | "webhook_endpoint.tested"
      | "webhook_delivery.redelivered"
      | "webhook_endpoint.replayed";
    /** Who: an API key, or a user of the operating system at the command line. `anyone`: no key had ever been created. */
    readonly actor:
      | {
          readonly type: "api_key";
          readonly id: string;
        }
      | {
          readonly type: "user";
          readonly name: string;
        }
      | {
          readonly type: "anyone";
        };
    /** From where. The address is that of the connection: behind a proxy, the proxy's. */
    readonly origin:
      | {
          readonly over: "http";
          readonly address: string | null;
          readonly requestId: string;
        }
      | {
          readonly over: "command";
          readonly host: string;
        };
    /** Why, in the person's own words: the evidence of a verdict, else what `Holdfast-Reason` said. */
    readonly reason: string | null;
    /** What it was done to: the id of an operation, a key, … */
    readonly subject: string;
    readonly merchant: string | null;
    readonly paymentId: string | null;
    /** Differs by kind. */
    readonly details: Readonly<Record<string, unknown>>;
  }[];
  readonly nextCursor: string | null;
}

export interface AuthorizeRequest {
  /** In the currency's ISO 4217 minor unit: 1250 is 12.50 EUR, 12.50 HUF, 1250 JPY or 1.250 KWD. */
  readonly amount: number;
  /** An ISO 4217 currency code (list one, 2026-09-17) with a minor unit, in upper or lower case. */
  readonly currency: string;
  /** The gateway's token for a card. The simulated gateway accepts `tok_ok`, `tok_capture_decline` and more. */
  readonly paymentMethod: string;
  /** Where the customer comes back to, if the gateway sends them to a page of its own: https, or http on loopback. Without it, a card that needs this is declined (`authentication_required`). */
  readonly returnUrl?: undefined | string;
  /** Your own name for the payment; lists can be filtered by it. */
  readonly reference?: undefined | string;
  /** Up to 50 entries of your own, name to text. */
  readonly metadata?: undefined | Readonly<Record<string, string>>;
  /** For how many seconds the payment can be captured; never longer than the gateway holds the money. */
  readonly expiresIn?: undefined | number;
}

export interface CaptureItem {
  readonly paymentId: string;
  /** 1 to 255 visible ASCII characters: the very key that `POST /payments/{paymentId}/capture` takes as a header. */
  readonly idempotencyKey: string;
  /** In the currency's ISO 4217 minor unit: 1250 is 12.50 EUR, 12.50 HUF, 1250 JPY or 1.250 KWD. */
  readonly amount?: undefined | number;
  /** If given, it must match the payment's currency. */
  readonly currency?: undefined | string;
}

export interface CaptureRequest {
  /** In the currency's ISO 4217 minor unit: 1250 is 12.50 EUR, 12.50 HUF, 1250 JPY or 1.250 KWD. */
  readonly amount?: undefined | number;
  /** If given, it must match the payment's currency. */
  readonly currency?: undefined | string;
}

export interface CaptureResult {
  /** As `POST /payments/{paymentId}/capture` would have answered. */
  readonly status: number;
  /** Those of that answer that say what to do next. */
  readonly headers: {
    readonly "Idempotency-Replayed"?: undefined | "true";
    /** In seconds. */
    readonly "Retry-After"?: undefined | number;
  };
  readonly body: Captured | Problem;
}

export interface CaptureResults {
  /** One for each capture, in the order of the request. */
  readonly results: readonly CaptureResult[];
}

export interface Captured {
  readonly capture: Operation;
  readonly payment: Payment;
}

export interface CapturesRequest {
  readonly captures: readonly CaptureItem[];
}

export interface CatchUp {
  /** ISO 8601 with an offset or Z. */
  readonly since: string;
  /** `nextCursor` of the previous answer. */
  readonly cursor?: undefined | string;
}

export interface CaughtUp {
  /** Events of the gateway on this page. */
  readonly events: number;
  /** Those that were not known: the gateway is asked about their payments. */
  readonly accepted: number;
  /** The account whose list this page is of. Null: that of the server's own key. */
  readonly account: string | null;
  /** Why the list of this account could not be read. The next page is the next account's. */
  readonly unread?: undefined | string;
  /** The value for `cursor` while there are more, of this account or the next one. */
  readonly nextCursor: string | null;
}

/** Forward only: by a number of seconds, or to an instant. */
export interface ClockRequest {
  readonly advanceSeconds?: undefined | number;
  /** ISO 8601 with an offset or Z. */
  readonly to?: undefined | string;
}

export interface DeletedSandbox {
  readonly deleted: string;
}

export interface DeletedWebhookEndpoint {
  readonly deleted: string;
}

export interface Dispute {
  /** The gateway's own. */
  readonly id: string;
  /** `closed`: it ended without a decision. */
  readonly status: "needs_response" | "under_review" | "won" | "lost" | "closed";
  readonly amount: number;
  /** The gateway's own word. */
  readonly reason: string;
  /** Until when the gateway takes evidence. */
  readonly dueBy: string | null;
}

export interface Event {
  /** The same wherever and however often the event is told. */
  readonly id: string;
  readonly type:
    | "payment.requires_action"
    | "payment.authorized"
    | "payment.declined"
    | "payment.captured"
    | "payment.voided"
    | "payment.expired"
    | "payment.refunded"
    | "capture.failed"
    | "void.failed"
    | "refund.failed"
    | "operation.pending"
    | "operation.unknown"
    | "operation.needs_review"
    | "operation.resolved"
    | "dispute.opened"
    | "dispute.updated"
    | "dispute.closed"
    | "webhook_endpoint.disabled";
  readonly timestamp: string;
  /** `payment`: as it was then. `operation`: the movement that is meant, or null. `dispute`: the one that is meant, if the event is about one. `sequence`: 1, 2, 3, … within the payment. What is no payment's has other members. */
  readonly data: {
    readonly payment?: undefined | Payment;
    readonly operation?:
      | undefined
      | {
          readonly id: string;
          /** `gateway`: made at the gateway, for instance in its dashboard, and not by a request to this service. */
          readonly origin: "holdfast" | "gateway";
          /** `pending`: the gateway has taken the order and will report the outcome later, perhaps after days. `unknown`: the gateway has not confirmed the outcome yet. Either is resolved automatically, or a person decides with evidence. `requires_action`: of an authorization that an event is about; it waits for the customer. */
          readonly status: "succeeded" | "failed" | "pending" | "requires_action" | "unknown";
          readonly amount: number;
          readonly failureCode: string | null;
          /** Whether a person has to decide the outcome. */
          readonly needsReview: boolean;
          readonly createdAt: string;
          readonly settledAt: string | null;
          readonly kind: "authorize" | "capture" | "void" | "refund";
        }
      | null;
    readonly dispute?: undefined | Dispute;
    readonly sequence?: undefined | number;
  };
}

export interface EventFeed {
  readonly data: readonly Event[];
  /** Where to go on. There always is one. */
  readonly nextCursor: string;
  /** There may be more at once. */
  readonly hasMore: boolean;
}

export interface EventList {
  readonly data: readonly PaymentEvent[];
  readonly nextCursor: string | null;
}

export interface GatewayMoves {
  readonly moves: readonly {
    readonly kind: "authorize" | "capture" | "void" | "refund";
    readonly gatewayKey: string;
    readonly amount: number;
    readonly at: string;
  }[];
}

export interface ImportRequest {
  /** The gateway's reference for the authorization: `pi_…` at Stripe, with your merchant in its metadata (`holdfast_merchant`); the simulated gateway accepts `ext_1250_eur_<name>.for_<merchant>`. */
  readonly gatewayReference: string;
  readonly reference?: undefined | string;
  /** Up to 50 entries of your own, name to text. */
  readonly metadata?: undefined | Readonly<Record<string, string>>;
  /** For how many seconds the payment can be captured; never longer than the gateway holds the money. */
  readonly expiresIn?: undefined | number;
}

export interface LockList {
  readonly data: readonly {
    readonly resourceId: string;
    /** The holder, as far as this instance knows; null while the lock changes hands. */
    readonly holder: {
      /** Identifies this one hold of the lock, where the lock kind has such ids. */
      readonly ownerId: string | null;
      readonly host: string | null;
      readonly pid: number | null;
      /** The purpose that the holder gave. */
      readonly purpose: string | null;
      readonly since: string | null;
    } | null;
    /** How many requests of this instance are waiting for the lock. */
    readonly waiting: number;
  }[];
}

export type NewPaymentRequest = AuthorizeRequest | ImportRequest;

export interface NewSandboxRequest {
  /** The id of a snapshot to start from, including its clock. Without it, the sandbox is empty and its clock shows the present. */
  readonly fromSnapshot?: undefined | string;
}

export interface NewWebhookEndpointRequest {
  /** Where to: `https://`, a public address, no credentials, no port of mail or databases. Each delivery looks again where the name leads. */
  readonly url: string;
  /** Of which events: payment.requires_action, payment.authorized, payment.declined, payment.captured, payment.voided, payment.expired, payment.refunded, capture.failed, void.failed, refund.failed, operation.pending, operation.unknown, operation.needs_review, operation.resolved, dispute.opened, dispute.updated, dispute.closed, webhook_endpoint.disabled. Null: of all, also later ones. */
  readonly types?: undefined | readonly string[] | null;
  /** In your own words. */
  readonly description?: undefined | string | null;
  /** The next event of a payment waits until the one before is delivered or has used up its schedule. */
  readonly ordered?: undefined | boolean;
}

export interface Observed {
  readonly operations: readonly {
    readonly operationId: string;
    readonly kind: "authorize" | "capture" | "void" | "refund";
    readonly amount: number;
    /** The stored status before the gateway was asked. */
    readonly recorded: "succeeded" | "failed" | "pending" | "requires_action" | "unknown";
    readonly gatewayKey: string;
    /** The gateway's answer now. Null if it was not asked. */
    readonly gateway: {
      readonly answer:
        | "succeeded"
        | "declined"
        | "authorization_gone"
        | "requires_action"
        | "absent"
        | "pending"
        | "unknown"
        | "mismatch";
      readonly reason?: undefined | string;
      readonly evidence?: undefined | string;
      readonly reference?: undefined | string;
      /** What contradicts the record: the money was captured. */
      readonly captured?: undefined | boolean;
    } | null;
    /** `settled`: it was open, and the gateway shows what became of it. `corrected`: the gateway has taken a refund's success back, and the payment now shows it. `in_review`: the gateway's answer and the stored status cannot both be true, and a person decides. `inconclusive`: the gateway's answer proves nothing about this operation. */
    readonly result: "agrees" | "inconclusive" | "settled" | "corrected" | "in_review" | "not_asked";
    /** `open`: a release, which the reconciler asks about, or an operation that two answers contradict. `not_sent`: it never reached the gateway. `made_elsewhere`: it has no key of ours to ask about: it was imported, or others made it at the gateway. `too_many`: one request asks about 48 operations at most, refunds first; `nextCursor` continues. */
    readonly notAsked: ("open" | "not_sent" | "made_elsewhere" | "too_many") | null;
  }[];
  readonly payment: Payment;
  /** Whether the gateway has shown the payment as a whole. `unknown`: it was asked and gave no usable answer, so what others did there, and disputes, were not compared; repeat the request. Null: this gateway shows none, or has not told yet what it calls the authorization. Where it is `unknown`, an open operation is asked about by its key. */
  readonly picture: {
    readonly answer: "seen" | "unknown";
    readonly reason?: undefined | string;
  } | null;
  /** The value for `cursor` while operations are left to ask about. */
  readonly nextCursor: string | null;
}

export interface OnePayment {
  readonly payment: Payment;
}

export interface OneSandbox {
  readonly sandbox: Sandbox;
}

export interface OneSnapshot {
  readonly snapshot: {
    /** For `fromSnapshot`. */
    readonly id: string;
    readonly createdAt: string;
    readonly bytes: number;
    /** SHA-256 of the bytes, in hex. */
    readonly checksum: string;
  };
}

export interface OneWebhookDelivery {
  readonly delivery: WebhookDelivery;
}

export interface OneWebhookEndpoint {
  readonly endpoint: WebhookEndpoint;
}

export interface Operation {
  readonly id: string;
  /** `gateway`: made at the gateway, for instance in its dashboard, and not by a request to this service. */
  readonly origin: "holdfast" | "gateway";
  /** `pending`: the gateway has taken the order and will report the outcome later, perhaps after days. `unknown`: the gateway has not confirmed the outcome yet. Either is resolved automatically, or a person decides with evidence. `requires_action`: of an authorization that an event is about; it waits for the customer. */
  readonly status: "succeeded" | "failed" | "pending" | "requires_action" | "unknown";
  readonly amount: number;
  readonly failureCode: string | null;
  /** Whether a person has to decide the outcome. */
  readonly needsReview: boolean;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

export interface Payment {
  readonly id: string;
  readonly merchant: string;
  readonly status:
    | "authorizing"
    | "requires_action"
    | "authorized"
    | "capturing"
    | "captured"
    | "voiding"
    | "voided"
    | "refunding"
    | "expired"
    | "declined";
  readonly amount: number;
  readonly currency: string;
  /** How many digits of the payment's amounts follow the decimal point, as it was when the payment was created. Null if that is not known. */
  readonly currencyExponent: number | null;
  readonly amountCapturable: number;
  readonly amountCaptured: number;
  readonly amountRefunded: number;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly authorizedAt: string | null;
  readonly expiresAt: string;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly captures: readonly Operation[];
  readonly refunds: readonly Operation[];
  readonly disputes: readonly Dispute[];
  /** Only while `status` is `requires_action`, and only where the payment is asked for: not in events. */
  readonly nextAction?:
    | undefined
    | {
        readonly type: "redirect";
        /** Send the customer's browser here. */
        readonly url: string;
        /** Until when the customer is waited for. */
        readonly expiresAt: string;
      };
}

export interface PaymentEvent {
  readonly id: string;
  readonly type: string;
  readonly at: string;
  /** The caller, how long the request waited for the lock and for which holder, the fencing token, and the gateway's answer. An operator's text about a review and the id of an operator's key are shown to operator keys only. */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface PaymentList {
  readonly data: readonly Payment[];
  readonly nextCursor: string | null;
}

/** RFC 9457 problem details. */
export interface Problem {
  /** A URI that identifies the kind of problem. */
  readonly type: string;
  readonly title: string;
  readonly status: number;
  /** For people to read; the wording may change. */
  readonly detail: string;
  /** The path of the request. */
  readonly instance: string;
  /** For programs; its meaning never changes. */
  readonly code:
    | "unauthorized"
    | "form_of_another_site"
    | "operator_key_required"
    | "invalid_payment_id"
    | "invalid_operation_id"
    | "idempotency_key_required"
    | "invalid_idempotency_key"
    | "invalid_request"
    | "invalid_event_cursor"
    | "invalid_event_type"
    | "invalid_limit"
    | "invalid_wait"
    | "gateway_signature_missing"
    | "gateway_signature_invalid"
    | "gateway_signature_expired"
    | "gateway_event_invalid"
    | "malformed_json"
    | "malformed_request"
    | "route_not_found"
    | "method_not_allowed"
    | "request_timeout"
    | "precondition_failed"
    | "body_too_large"
    | "unsupported_media_type"
    | "headers_too_large"
    | "payment_not_found"
    | "payment_already_captured"
    | "payment_not_capturable"
    | "payment_not_voidable"
    | "payment_not_refundable"
    | "payment_expired"
    | "payment_voided"
    | "amount_exceeds_authorized"
    | "amount_exceeds_captured"
    | "currency_mismatch"
    | "authorization_declined"
    | "capture_declined"
    | "capture_not_begun"
    | "void_declined"
    | "refund_declined"
    | "idempotency_key_reused"
    | "idempotency_key_in_use"
    | "authorize_in_progress"
    | "capture_in_progress"
    | "void_in_progress"
    | "refund_in_progress"
    | "payment_busy"
    | "lock_timeout"
    | "lock_unavailable"
    | "lock_lost"
    | "operation_not_found"
    | "operation_not_in_review"
    | "review_contradicts_payment"
    | "review_contradicts_gateway"
    | "gateway_reference_required"
    | "authorization_not_found"
    | "authorization_not_capturable"
    | "authorization_already_imported"
    | "invalid_webhook_endpoint_id"
    | "invalid_webhook_delivery_id"
    | "invalid_webhook_cursor"
    | "webhook_url_malformed"
    | "webhook_url_not_https"
    | "webhook_url_has_credentials"
    | "webhook_url_port_forbidden"
    | "webhook_url_address_forbidden"
    | "webhook_type_unknown"
    | "webhook_endpoint_not_found"
    | "webhook_delivery_not_found"
    | "webhook_endpoint_limit_reached"
    | "webhook_endpoint_busy"
    | "webhook_endpoint_disabled"
    | "rotation_under_way"
    | "webhook_delivery_pending"
    | "webhook_replay_too_long"
    | "secrets_key_missing"
    | "secrets_key_wrong"
    | "invalid_sandbox_id"
    | "sandbox_not_found"
    | "snapshot_not_found"
    | "sandbox_contended"
    | "sandbox_full"
    | "sandbox_too_large"
    | "snapshot_damaged"
    | "snapshot_missing"
    | "sandbox_elsewhere"
    | "clock_not_movable"
    | "sandbox_limit_reached"
    | "too_many_readers"
    | "sandbox_lost"
    | "snapshot_store_unavailable"
    | "gateway_unavailable"
    | "gateway_access_refused"
    | "service_unavailable"
    | "internal_error";
  /** Whether the same request, unchanged, may succeed later. */
  readonly retryable: boolean;
  /** Identifies the request in the server's log. */
  readonly requestId: string;
  /** Each invalid part, by JSON pointer into the body or by query parameter. */
  readonly errors?:
    | undefined
    | readonly {
        readonly pointer?: undefined | string;
        readonly parameter?: undefined | string;
        readonly detail: string;
      }[];
  readonly paymentId?: undefined | string;
  readonly paymentStatus?: undefined | string;
  readonly operationId?: undefined | string;
  readonly operationStatus?: undefined | string;
  readonly gatewayReference?: undefined | string;
  readonly maxAmount?: undefined | number;
  readonly currency?: undefined | string;
  readonly expiresAt?: undefined | string;
  /** The gateway's own reason for its refusal. */
  readonly reason?: undefined | string;
  /** The verdict that was refused. With `service_unavailable`: `none` means that this request has changed nothing; `unknown` means that it may have been carried out, or still will be: repeat it with the same idempotency key. */
  readonly outcome?: undefined | string;
  /** What the gateway has just answered. */
  readonly gateway?:
    | undefined
    | {
        readonly answer: string;
        readonly reference?: undefined | string;
        readonly reason?: undefined | string;
      };
  readonly allow?: undefined | readonly string[];
  /** The holder of the lock, as far as it is known. */
  readonly holder?:
    | undefined
    | {
        readonly host?: undefined | string;
        readonly pid?: undefined | number;
        readonly purpose?: undefined | string;
        readonly since?: undefined | string;
      };
  /** How long the request waited for the lock. */
  readonly waitedMs?: undefined | number;
  /** The longest wait that was allowed, in seconds. */
  readonly limit?: undefined | number | "infinite";
  /** Where that limit is set. */
  readonly source?: undefined | string;
  /** What the lock protects: payment, sandbox. */
  readonly scope?: undefined | string;
  /** Until then the secret before verifies deliveries, too. */
  readonly previousSecretUntil?: undefined | string;
  readonly sandboxId?: undefined | string;
  /** The instance that has the sandbox. */
  readonly ownerUrl?: undefined | string;
  readonly snapshotId?: undefined | string;
  /** The snapshot before the damaged one; a new sandbox can start from it. */
  readonly previousSnapshotId?: undefined | string;
  readonly dependencies?: undefined | Readonly<Record<string, "up" | "down">>;
  /** Why each dependency that is down cannot be used: no_answer, full, read_only, … */
  readonly reasons?: undefined | Readonly<Record<string, string>>;
}

export interface RefundRequest {
  /** In the currency's ISO 4217 minor unit: 1250 is 12.50 EUR, 12.50 HUF, 1250 JPY or 1.250 KWD. */
  readonly amount?: undefined | number;
  /** If given, it must match the payment's currency. */
  readonly currency?: undefined | string;
}

export interface Refunded {
  readonly refund: Operation;
  readonly payment: Payment;
}

export interface ReplayWebhooksRequest {
  /** ISO 8601 with an offset or Z. */
  readonly from: string;
  /** ISO 8601 with an offset or Z. */
  readonly to: string;
}

export interface ReplayedWebhooks {
  /** How many events. */
  readonly replayed: number;
}

export interface ReviewHistory {
  readonly operation: {
    readonly id: string;
    /** `gateway`: made at the gateway, for instance in its dashboard, and not by a request to this service. */
    readonly origin: "holdfast" | "gateway";
    /** `pending`: the gateway has taken the order and will report the outcome later, perhaps after days. `unknown`: the gateway has not confirmed the outcome yet. Either is resolved automatically, or a person decides with evidence. `requires_action`: of an authorization that an event is about; it waits for the customer. */
    readonly status: "succeeded" | "failed" | "pending" | "requires_action" | "unknown";
    readonly amount: number;
    readonly failureCode: string | null;
    /** Whether a person has to decide the outcome. */
    readonly needsReview: boolean;
    readonly createdAt: string;
    readonly settledAt: string | null;
    readonly kind: "authorize" | "capture" | "void" | "refund";
  };
  readonly payment: Payment;
  readonly events: readonly PaymentEvent[];
}

export interface ReviewList {
  readonly data: readonly {
    readonly operationId: string;
    readonly paymentId: string;
    readonly merchant: string;
    readonly kind: "authorize" | "capture" | "void" | "refund";
    readonly amount: number;
    readonly currency: string;
    /** How many digits of the payment's amounts follow the decimal point, as it was when the payment was created. Null if that is not known. */
    readonly currencyExponent: number | null;
    /** The status that callers see. A finished operation is listed if the gateway contradicted it later and it cannot be reopened. */
    readonly status: "succeeded" | "failed" | "pending" | "requires_action" | "unknown";
    /** Why a person has to decide. */
    readonly reason: string;
    readonly since: string;
    readonly createdAt: string;
    /** When the gateway was last asked about it. */
    readonly askedAt: string | null;
    /** When the gateway will be asked next. Null if two of its answers contradict each other: a third would decide nothing. */
    readonly nextQuestionAt: string | null;
    /** The idempotency key that was sent to the gateway. */
    readonly gatewayKey: string;
    /** The gateway's reference for the authorization, if it is known. */
    readonly authorizationReference: string | null;
  }[];
  readonly nextCursor: string | null;
}

export interface ReviewRequest {
  /** Whether the money moved. `pending`: the gateway has not decided either; the review stays open, and the gateway is asked again after a day. */
  readonly outcome: "moved" | "not_moved" | "pending";
  /** How you know: where you looked and what you saw. It is kept in the payment's history. */
  readonly evidence: string;
  /** The gateway's reference for the authorization or the movement; required if an authorization turns out to have succeeded. */
  readonly gatewayReference?: undefined | string;
  /** Why the verdict is right although the gateway contradicts it. It is kept in the payment's history. */
  readonly overrideReason?: undefined | string;
}

export interface Reviewed {
  readonly operation: {
    readonly id: string;
    /** `gateway`: made at the gateway, for instance in its dashboard, and not by a request to this service. */
    readonly origin: "holdfast" | "gateway";
    /** `pending`: the gateway has taken the order and will report the outcome later, perhaps after days. `unknown`: the gateway has not confirmed the outcome yet. Either is resolved automatically, or a person decides with evidence. `requires_action`: of an authorization that an event is about; it waits for the customer. */
    readonly status: "succeeded" | "failed" | "pending" | "requires_action" | "unknown";
    readonly amount: number;
    readonly failureCode: string | null;
    /** Whether a person has to decide the outcome. */
    readonly needsReview: boolean;
    readonly createdAt: string;
    readonly settledAt: string | null;
    readonly kind: "authorize" | "capture" | "void" | "refund";
  };
  readonly payment: Payment;
}

export interface RotateWebhookSecretRequest {
  /** For how long deliveries carry signatures by both secrets. 0: all former ones are void now. */
  readonly overlapSeconds?: undefined | number;
}

export interface Sandbox {
  readonly id: string;
  readonly createdAt: string;
  /** The instance that has the sandbox in memory. */
  readonly ownerUrl: string;
  readonly lease: {
    readonly fencingToken: string;
    readonly since: string;
  };
  /** Whether another instance is waiting for the sandbox. */
  readonly waiter: boolean;
  /** The sandbox's own time. It stands still until it is moved. */
  readonly clock: string;
  readonly counts: {
    readonly payments: number;
  };
  /** Whether the sandbox has changed since the last snapshot. */
  readonly unsaved: boolean;
  readonly snapshots: readonly {
    /** For `fromSnapshot`. */
    readonly id: string;
    readonly createdAt: string;
    readonly bytes: number;
    /** SHA-256 of the bytes, in hex. */
    readonly checksum: string;
    /** Whether a caller asked for this snapshot: then it is kept. Of all others, only the last two are kept. */
    readonly kept: boolean;
  }[];
  /** What happened to the sandbox at this instance, oldest first. */
  readonly events: readonly {
    readonly type:
      | "created"
      | "attached"
      | "checkpointed"
      | "checkpoint_failed"
      | "handed_over"
      | "kept"
      | "unloaded"
      | "deleted"
      | "lost";
    readonly at: string;
    readonly snapshotId?: undefined | string;
    readonly reason?: undefined | string;
  }[];
}

export interface SandboxList {
  readonly data: readonly {
    readonly id: string;
    readonly createdAt: string;
    /** The instance that had the sandbox last. It is always safe to ask there. */
    readonly ownerUrl: string;
    /** Whether the sandbox is in the memory of the instance that answers. */
    readonly here: boolean;
  }[];
  readonly nextCursor: string | null;
}

export type VoidRequest = Readonly<Record<string, never>>;

export interface Voided {
  readonly void: Operation;
  readonly payment: Payment;
}

export interface WebhookDelivery {
  readonly id: string;
  readonly endpointId: string;
  /** The `webhook-id` of each attempt. */
  readonly eventId: string;
  readonly type: string;
  readonly status: "pending" | "delivered" | "failed";
  readonly attempts: number;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly settledAt: string | null;
  readonly lastAttempt: {
    readonly at: string;
    /** The receiver's; null where it did not answer. */
    readonly status: number | null;
    readonly failure:
      | (
          | "status"
          | "timeout"
          | "address_forbidden"
          | "name_unknown"
          | "tls"
          | "connection"
          | "secret_unreadable"
        )
      | null;
    readonly tookMs: number;
    /** The first kilobyte of what was answered; shown to operators alone. */
    readonly answer?: undefined | string;
  } | null;
}

export interface WebhookDeliveryList {
  readonly data: readonly WebhookDelivery[];
  readonly nextCursor: string | null;
}

export interface WebhookEndpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly description: string | null;
  readonly ordered: boolean;
  readonly enabled: boolean;
  readonly disabledAt: string | null;
  /** `gone`: it answered 410. `failing`: five days of failures and nothing else. `merchant`: by request. */
  readonly disabledReason: ("gone" | "failing" | "merchant") | null;
  /** The first failure since something was delivered. */
  readonly failingSince: string | null;
  /** Until then deliveries carry a signature by the secret before, too. */
  readonly previousSecretUntil: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export interface WebhookEndpointChangeRequest {
  /** Where to: `https://`, a public address, no credentials, no port of mail or databases. Each delivery looks again where the name leads. */
  readonly url?: undefined | string;
  /** Of which events: payment.requires_action, payment.authorized, payment.declined, payment.captured, payment.voided, payment.expired, payment.refunded, capture.failed, void.failed, refund.failed, operation.pending, operation.unknown, operation.needs_review, operation.resolved, dispute.opened, dispute.updated, dispute.closed, webhook_endpoint.disabled. Null: of all, also later ones. */
  readonly types?: undefined | readonly string[] | null;
  /** In your own words. */
  readonly description?: undefined | string | null;
  /** The next event of a payment waits until the one before is delivered or has used up its schedule. */
  readonly ordered?: undefined | boolean;
  /** False: nothing is sent, and what happens meanwhile is not kept for it; replay it. What was pending waits. */
  readonly enabled?: undefined | boolean;
}

export interface WebhookEndpointList {
  readonly data: readonly WebhookEndpoint[];
  readonly nextCursor: string | null;
}

export interface WebhookEndpointWithSecret {
  readonly endpoint: WebhookEndpoint;
  /** `whsec_…`, to verify signatures with. Shown this once. */
  readonly secret: string;
}
