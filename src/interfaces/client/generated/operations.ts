// Written by `npm run client:types` from the OpenAPI document.

import type {
  AuditList,
  CaptureRequest,
  CaptureResults,
  Captured,
  CapturesRequest,
  CatchUp,
  CaughtUp,
  ClockRequest,
  DeletedSandbox,
  DeletedWebhookEndpoint,
  EventFeed,
  EventList,
  GatewayMoves,
  LockList,
  NewPaymentRequest,
  NewSandboxRequest,
  NewWebhookEndpointRequest,
  Observed,
  OnePayment,
  OneSandbox,
  OneSnapshot,
  OneWebhookDelivery,
  OneWebhookEndpoint,
  PaymentList,
  RefundRequest,
  Refunded,
  ReplayWebhooksRequest,
  ReplayedWebhooks,
  ReviewHistory,
  ReviewList,
  ReviewRequest,
  Reviewed,
  RotateWebhookSecretRequest,
  SandboxList,
  VoidRequest,
  Voided,
  WebhookDeliveryList,
  WebhookEndpointChangeRequest,
  WebhookEndpointList,
  WebhookEndpointWithSecret,
} from "./schemas";

/** Of each operation what is sent with it and what a success is answered with. */
export interface Operations {
  /** Authorize an amount, or import an authorization made elsewhere */
  readonly authorizePayment: { readonly body: NewPaymentRequest; readonly answer: OnePayment };
  /** List payments, newest first */
  readonly listPayments: {
    readonly query?: {
      /** Maximum number of entries. */
      readonly limit?: undefined | number;
      /** `nextCursor` of the previous page. */
      readonly cursor?: undefined | string;
      readonly status?:
        | undefined
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
      readonly reference?: undefined | string;
      /** Inclusive. */
      readonly createdFrom?: undefined | string;
      /** Exclusive. */
      readonly createdTo?: undefined | string;
    };
    readonly answer: PaymentList;
  };
  /** Show a payment */
  readonly showPayment: { readonly path: { readonly paymentId: string }; readonly answer: OnePayment };
  /** Explain a payment: what happened, in order */
  readonly listPaymentEvents: {
    readonly path: { readonly paymentId: string };
    readonly query?: {
      /** Maximum number of entries. */
      readonly limit?: undefined | number;
      /** `nextCursor` of the previous page. */
      readonly cursor?: undefined | string;
    };
    readonly answer: EventList;
  };
  /** Capture the money, once */
  readonly capturePayment: {
    readonly path: { readonly paymentId: string };
    readonly body?: CaptureRequest;
    readonly answer: Captured;
  };
  /** Capture many payments in one request, each of them once */
  readonly capturePayments: { readonly body: CapturesRequest; readonly answer: CaptureResults };
  /** Release the authorized money, once */
  readonly voidPayment: {
    readonly path: { readonly paymentId: string };
    readonly body?: VoidRequest;
    readonly answer: Voided;
  };
  /** Return captured money, in full or in parts */
  readonly refundPayment: {
    readonly path: { readonly paymentId: string };
    readonly body?: RefundRequest;
    readonly answer: Refunded;
  };
  /** Follow what happens to payments, in one order that never changes */
  readonly listEvents: {
    readonly query?: {
      /** `nextCursor` of the answer before, from this very feed. `latest`: only what comes from now on. Default: from the beginning. */
      readonly after?: undefined | string;
      /** Only these, separated by commas: payment.requires_action, payment.authorized, payment.declined, payment.captured, payment.voided, payment.expired, payment.refunded, capture.failed, void.failed, refund.failed, operation.pending, operation.unknown, operation.needs_review, operation.resolved, dispute.opened, dispute.updated, dispute.closed, webhook_endpoint.disabled. */
      readonly types?: undefined | string;
      /** Only of this payment. */
      readonly paymentId?: undefined | string;
      /** How many at most. */
      readonly limit?: undefined | number;
      /** Seconds to wait for an event where there is none yet. */
      readonly wait?: undefined | number;
    };
    readonly answer: EventFeed;
  };
  /** Be told what happens */
  readonly createWebhookEndpoint: {
    readonly body: NewWebhookEndpointRequest;
    readonly answer: WebhookEndpointWithSecret;
  };
  /** List webhook endpoints, oldest first */
  readonly listWebhookEndpoints: {
    readonly query?: {
      /** Maximum number of entries. */
      readonly limit?: undefined | number;
      /** `nextCursor` of the previous page. */
      readonly cursor?: undefined | string;
    };
    readonly answer: WebhookEndpointList;
  };
  /** A webhook endpoint as it is now, without its secret */
  readonly showWebhookEndpoint: {
    readonly path: { readonly webhookEndpointId: string };
    readonly answer: OneWebhookEndpoint;
  };
  /** Change a webhook endpoint, or enable one that was disabled */
  readonly changeWebhookEndpoint: {
    readonly path: { readonly webhookEndpointId: string };
    readonly body?: WebhookEndpointChangeRequest;
    readonly answer: OneWebhookEndpoint;
  };
  /** Delete a webhook endpoint, with its secret and its deliveries */
  readonly deleteWebhookEndpoint: {
    readonly path: { readonly webhookEndpointId: string };
    readonly answer: DeletedWebhookEndpoint;
  };
  /** Get a new secret */
  readonly rotateWebhookSecret: {
    readonly path: { readonly webhookEndpointId: string };
    readonly body?: RotateWebhookSecretRequest;
    readonly answer: WebhookEndpointWithSecret;
  };
  /** Send a test event */
  readonly testWebhookEndpoint: {
    readonly path: { readonly webhookEndpointId: string };
    readonly answer: OneWebhookDelivery;
  };
  /** List what was and will be delivered, newest first */
  readonly listWebhookDeliveries: {
    readonly path: { readonly webhookEndpointId: string };
    readonly query?: {
      /** Maximum number of entries. */
      readonly limit?: undefined | number;
      /** `nextCursor` of the previous page. */
      readonly cursor?: undefined | string;
      /** `failed`: its schedule is used up. */
      readonly status?: undefined | "pending" | "delivered" | "failed";
    };
    readonly answer: WebhookDeliveryList;
  };
  /** Deliver once more */
  readonly redeliverWebhook: {
    readonly path: { readonly webhookDeliveryId: string };
    readonly answer: OneWebhookDelivery;
  };
  /** Deliver all events of a time once more */
  readonly replayWebhooks: {
    readonly path: { readonly webhookEndpointId: string };
    readonly body: ReplayWebhooksRequest;
    readonly answer: ReplayedWebhooks;
  };
  /** List the operations whose outcome a person has to decide, oldest first */
  readonly listReviews: {
    readonly query?: {
      /** Maximum number of entries. */
      readonly limit?: undefined | number;
      /** `nextCursor` of the previous page. */
      readonly cursor?: undefined | string;
    };
    readonly answer: ReviewList;
  };
  /** Show an operation with its part of the payment's history, including evidence and operators */
  readonly showReview: { readonly path: { readonly operationId: string }; readonly answer: ReviewHistory };
  /** Decide whether the money moved */
  readonly resolveReview: {
    readonly path: { readonly operationId: string };
    readonly body: ReviewRequest;
    readonly answer: Reviewed;
  };
  /** List what people did by hand, newest first */
  readonly listAudit: {
    readonly query?: {
      /** Maximum number of entries. */
      readonly limit?: undefined | number;
      /** `nextCursor` of the previous page. */
      readonly cursor?: undefined | string;
      /** Inclusive. */
      readonly from?: undefined | string;
      /** Exclusive. */
      readonly to?: undefined | string;
      /** The id of an API key, or the name of a user. */
      readonly actor?: undefined | string;
      readonly kind?:
        | undefined
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
      readonly paymentId?: undefined | string;
    };
    readonly answer: AuditList;
  };
  /** Create a sandbox: a payments world of your own */
  readonly createSandbox: { readonly body?: NewSandboxRequest; readonly answer: OneSandbox };
  /** List your sandboxes, newest first */
  readonly listSandboxes: {
    readonly query?: {
      /** Maximum number of entries. */
      readonly limit?: undefined | number;
      /** `nextCursor` of the previous page. */
      readonly cursor?: undefined | string;
    };
    readonly answer: SandboxList;
  };
  /** Show a sandbox: its owner, clock and snapshots */
  readonly showSandbox: { readonly path: { readonly sandboxId: string }; readonly answer: OneSandbox };
  /** Delete a sandbox with all its snapshots */
  readonly deleteSandbox: { readonly path: { readonly sandboxId: string }; readonly answer: DeletedSandbox };
  /** Bring a sandbox to this instance */
  readonly attachSandbox: { readonly path: { readonly sandboxId: string }; readonly answer: OneSandbox };
  /** Take a snapshot that is kept until the sandbox is deleted */
  readonly checkpointSandbox: { readonly path: { readonly sandboxId: string }; readonly answer: OneSnapshot };
  /** Move the sandbox's clock forward */
  readonly moveSandboxClock: {
    readonly path: { readonly sandboxId: string };
    readonly body?: ClockRequest;
    readonly answer: OneSandbox;
  };
  /** How often the simulated gateway moved money for a payment */
  readonly listGatewayMoves: { readonly path: { readonly paymentId: string }; readonly answer: GatewayMoves };
  /** Compare a payment with the gateway's view of it, and write down what differs */
  readonly observePayment: {
    readonly path: { readonly paymentId: string };
    readonly query?: {
      /** `nextCursor` of the previous answer: continues after its operations. */
      readonly cursor?: undefined | string;
    };
    readonly answer: Observed;
  };
  /** Read the gateway's own lists of events since a time, page by page */
  readonly catchUpWithGateway: { readonly body: CatchUp; readonly answer: CaughtUp };
  /** List the locks of this instance: their holders, and how many requests are waiting */
  readonly listLocks: { readonly answer: LockList };
}

/** Where each operation is. */
export const routes: { readonly [Id in keyof Operations]: readonly [method: string, path: string] } = {
  authorizePayment: ["POST", "/payments"],
  listPayments: ["GET", "/payments"],
  showPayment: ["GET", "/payments/{paymentId}"],
  listPaymentEvents: ["GET", "/payments/{paymentId}/events"],
  capturePayment: ["POST", "/payments/{paymentId}/capture"],
  capturePayments: ["POST", "/captures"],
  voidPayment: ["POST", "/payments/{paymentId}/void"],
  refundPayment: ["POST", "/payments/{paymentId}/refunds"],
  listEvents: ["GET", "/events"],
  createWebhookEndpoint: ["POST", "/webhook-endpoints"],
  listWebhookEndpoints: ["GET", "/webhook-endpoints"],
  showWebhookEndpoint: ["GET", "/webhook-endpoints/{webhookEndpointId}"],
  changeWebhookEndpoint: ["PATCH", "/webhook-endpoints/{webhookEndpointId}"],
  deleteWebhookEndpoint: ["DELETE", "/webhook-endpoints/{webhookEndpointId}"],
  rotateWebhookSecret: ["POST", "/webhook-endpoints/{webhookEndpointId}/rotate-secret"],
  testWebhookEndpoint: ["POST", "/webhook-endpoints/{webhookEndpointId}/test"],
  listWebhookDeliveries: ["GET", "/webhook-endpoints/{webhookEndpointId}/deliveries"],
  redeliverWebhook: ["POST", "/webhook-deliveries/{webhookDeliveryId}/redeliver"],
  replayWebhooks: ["POST", "/webhook-endpoints/{webhookEndpointId}/replay"],
  listReviews: ["GET", "/reviews"],
  showReview: ["GET", "/reviews/{operationId}"],
  resolveReview: ["POST", "/reviews/{operationId}"],
  listAudit: ["GET", "/audit"],
  createSandbox: ["POST", "/sandboxes"],
  listSandboxes: ["GET", "/sandboxes"],
  showSandbox: ["GET", "/sandboxes/{sandboxId}"],
  deleteSandbox: ["DELETE", "/sandboxes/{sandboxId}"],
  attachSandbox: ["POST", "/sandboxes/{sandboxId}/attach"],
  checkpointSandbox: ["POST", "/sandboxes/{sandboxId}/checkpoint"],
  moveSandboxClock: ["POST", "/sandboxes/{sandboxId}/clock"],
  listGatewayMoves: ["GET", "/gateway/payments/{paymentId}"],
  observePayment: ["POST", "/gateway/payments/{paymentId}/observe"],
  catchUpWithGateway: ["POST", "/gateway/catch-up"],
  listLocks: ["GET", "/locks"],
};
