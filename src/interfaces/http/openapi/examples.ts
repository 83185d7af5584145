import { cursorAt, writeEventCursor } from "../endpoints/events/event-cursor";
import { problemKind, type ProblemCode } from "../problems/problem-table";

/** An exchange that the document shows. A test sends each of them, and gets the answer that is written here. */
export interface DocumentedExample {
  readonly name: string;
  readonly operationId: string;
  readonly summary: string;
  readonly body?: object;
  readonly status: number;
  readonly answer: object;
}

const PAYMENT = "019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01";
const ANOTHER = "019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e02";
const OPERATION = "019aa2b4-7c05-7b1e-8f10-52c0f4d9a702";
const REQUEST = "7e7c0d9a-64fb-4a49-8d4a-0e6f5f0b7c11";
const AT = "2026-03-01T12:00:00.000Z";

const card = {
  amount: 1250,
  currency: "EUR",
  paymentMethod: "tok_ok",
  reference: "order-1042",
  metadata: { basket: "7" },
};

function payment(change: object = {}) {
  return {
    id: PAYMENT,
    merchant: "default",
    status: "authorized",
    amount: 1250,
    currency: "EUR",
    currencyExponent: 2,
    amountCapturable: 1250,
    amountCaptured: 0,
    amountRefunded: 0,
    reference: "order-1042",
    metadata: { basket: "7" },
    authorizedAt: AT,
    expiresAt: "2026-03-08T12:00:00.000Z",
    createdAt: AT,
    updatedAt: AT,
    captures: [] as object[],
    refunds: [] as object[],
    disputes: [] as object[],
    ...change,
  };
}

function operation(change: object = {}) {
  return {
    id: OPERATION,
    origin: "holdfast",
    status: "succeeded",
    amount: 1250,
    failureCode: null,
    needsReview: false,
    createdAt: AT,
    settledAt: AT,
    ...change,
  };
}

function captured(change: object = {}, ofPayment: object = {}) {
  const capture = operation(change);
  const after = { status: "captured", amountCapturable: 0, amountCaptured: capture.amount };
  return { capture, payment: payment({ ...after, ...ofPayment, captures: [capture] }) };
}

function refunded(amount: number) {
  const { capture, payment: before } = captured();
  const refund = operation({ amount });
  return { refund, payment: { ...before, amountRefunded: amount, captures: [capture], refunds: [refund] } };
}

function observed(kind: string, gateway: object, result: string) {
  const stored = { operationId: OPERATION, kind, amount: 1250, recorded: "succeeded" };
  return { ...stored, gatewayKey: `${OPERATION}.1`, gateway, result, notAsked: null };
}

function problem(code: ProblemCode, instance: string, detail: string, facts: object = {}) {
  const { title, status, retryable } = problemKind(code);
  const type = `urn:holdfast:problem:${code}`;
  return { type, title, status, detail, instance, code, retryable, requestId: REQUEST, ...facts };
}

const capturePath = `/payments/${PAYMENT}/capture`;
const gatewayReference = "ext_1250_eur_browser";
const evidence = "The gateway's dashboard shows the capture of 12.50 EUR, at 12:00:01.";
const otherAmount = "captured with another amount: 12.00 EUR";
const by = { apiKey: null, requestId: REQUEST };
const lock = { fencingToken: "1772366400001", waitedMs: 0 };

const authorizeAnswered = {
  asked: "authorize",
  key: `${OPERATION}.1`,
  answer: "succeeded",
  reference: `auth_${OPERATION}.1`,
};

/** The order is that of the page. */
export const examples = [
  {
    name: "card",
    operationId: "authorizePayment",
    summary: "A card payment of 12.50 EUR",
    body: card,
    status: 201,
    answer: { payment: payment() },
  },
  {
    name: "silent",
    operationId: "authorizePayment",
    summary: "The gateway does not answer",
    body: { ...card, paymentMethod: "tok_authorize_timeout_captured" },
    status: 202,
    answer: { payment: payment({ status: "authorizing", amountCapturable: 0, authorizedAt: null }) },
  },
  {
    name: "customer",
    operationId: "authorizePayment",
    summary: "The customer has to confirm it at a page of the gateway",
    body: { ...card, paymentMethod: "tok_requires_action", returnUrl: "https://shop.example/orders/1042" },
    status: 201,
    answer: {
      payment: payment({
        status: "requires_action",
        amountCapturable: 0,
        authorizedAt: null,
        nextAction: {
          type: "redirect",
          url: `http://127.0.0.1:8080/simulated-gateway/payments/${PAYMENT}?secret=Zm9yIGEgY3VzdG9tZXI`,
          expiresAt: "2026-03-01T13:00:00.000Z",
        },
      }),
    },
  },
  {
    name: "declined",
    operationId: "authorizePayment",
    summary: "The card is declined",
    body: { ...card, paymentMethod: "tok_decline" },
    status: 402,
    answer: problem(
      "authorization_declined",
      "/payments",
      "The gateway declined the authorization: card_declined.",
      { paymentId: PAYMENT, reason: "card_declined" },
    ),
  },
  {
    name: "invalid",
    operationId: "authorizePayment",
    summary: "An unknown field",
    body: { ...card, tip: 100 },
    status: 400,
    answer: problem("invalid_request", "/payments", "The body is not valid.", {
      errors: [{ pointer: "/tip", detail: "is not recognized" }],
    }),
  },
  {
    name: "import",
    operationId: "authorizePayment",
    summary: "An authorization that was made elsewhere",
    body: { gatewayReference, reference: "order-1042", metadata: { basket: "7" } },
    status: 201,
    answer: { payment: payment() },
  },
  {
    name: "importedBefore",
    operationId: "authorizePayment",
    summary: "The authorization belongs to another payment",
    body: { gatewayReference },
    status: 409,
    answer: problem(
      "authorization_already_imported",
      "/payments",
      `The authorization ${gatewayReference} already belongs to another payment.`,
      { gatewayReference },
    ),
  },
  {
    name: "page",
    operationId: "listPayments",
    summary: "The only page",
    status: 200,
    answer: { data: [payment()], nextCursor: null },
  },
  {
    name: "authorized",
    operationId: "showPayment",
    summary: "A payment that can be captured",
    status: 200,
    answer: { payment: payment() },
  },
  {
    name: "history",
    operationId: "listPaymentEvents",
    summary: "A payment that was authorized",
    status: 200,
    answer: {
      data: [
        {
          id: "019aa2b4-7c01-7d3a-9c55-3f1f6b8a2e11",
          type: "authorize.started",
          at: AT,
          data: { by, lock, operationId: OPERATION, amount: 1250 },
        },
        {
          id: "019aa2b4-7c02-7d3a-9c55-3f1f6b8a2e12",
          type: "authorize.succeeded",
          at: AT,
          data: {
            by,
            lock,
            gateway: authorizeAnswered,
            operationId: OPERATION,
            amount: 1250,
          },
        },
        {
          id: "019aa2b4-7c03-7d3a-9c55-3f1f6b8a2e13",
          type: "payment.authorized",
          at: AT,
          data: {
            by,
            lock,
            gateway: authorizeAnswered,
            expiresAt: "2026-03-08T12:00:00.000Z",
          },
        },
      ],
      nextCursor: null,
    },
  },
  {
    name: "all",
    operationId: "capturePayment",
    summary: "All that is authorized",
    body: {},
    status: 201,
    answer: captured(),
  },
  {
    name: "part",
    operationId: "capturePayment",
    summary: "10.00 EUR of it; the rest is released",
    body: { amount: 1000, currency: "EUR" },
    status: 201,
    answer: captured({ amount: 1000 }),
  },
  {
    name: "unanswered",
    operationId: "capturePayment",
    summary: "The gateway does not answer",
    body: { amount: 1250 },
    status: 202,
    answer: captured({ status: "unknown", settledAt: null }, { status: "capturing", amountCaptured: 0 }),
  },
  {
    name: "decidedLater",
    operationId: "capturePayment",
    summary: "The gateway takes the order and decides later",
    body: {},
    status: 202,
    answer: captured({ status: "pending", settledAt: null }, { status: "capturing", amountCaptured: 0 }),
  },
  {
    name: "many",
    operationId: "capturePayments",
    summary: "Two captures; one payment does not exist",
    body: {
      captures: [
        { paymentId: PAYMENT, idempotencyKey: "order-1042", amount: 1250 },
        { paymentId: ANOTHER, idempotencyKey: "order-1043" },
      ],
    },
    status: 207,
    answer: {
      results: [
        { status: 201, headers: {}, body: captured() },
        {
          status: 404,
          headers: {},
          body: problem("payment_not_found", "/captures", `There is no payment ${ANOTHER}.`, {
            paymentId: ANOTHER,
          }),
        },
      ],
    },
  },
  {
    name: "tooLate",
    operationId: "capturePayment",
    summary: "Another request has captured it",
    body: { currency: "EUR" },
    status: 409,
    answer: problem(
      "payment_already_captured",
      capturePath,
      `Payment ${PAYMENT} has been captured by another request.`,
      { paymentId: PAYMENT, paymentStatus: "captured" },
    ),
  },
  {
    name: "tooMuch",
    operationId: "capturePayment",
    summary: "More than is authorized",
    body: { amount: 1251 },
    status: 422,
    answer: problem("amount_exceeds_authorized", capturePath, "At most 1250 minor units are authorized.", {
      maxAmount: 1250,
    }),
  },
  {
    name: "mayBeStored",
    operationId: "capturePayment",
    summary: "The store fails, and the outcome is unknown",
    body: {},
    status: 503,
    answer: problem(
      "service_unavailable",
      capturePath,
      "It is not known whether this request was carried out, or still will be: repeat it with the same idempotency key to " +
        "get its outcome. If it has no key, check the current state before you repeat it.",
      { outcome: "unknown" },
    ),
  },
  {
    name: "void",
    operationId: "voidPayment",
    summary: "The order was cancelled",
    body: {},
    status: 201,
    answer: { void: operation(), payment: payment({ status: "voided", amountCapturable: 0 }) },
  },
  {
    name: "notVoidable",
    operationId: "voidPayment",
    summary: "It has been captured",
    body: {},
    status: 409,
    answer: problem(
      "payment_not_voidable",
      `/payments/${PAYMENT}/void`,
      `Payment ${PAYMENT} is captured: only an authorized payment can be voided.`,
      { paymentId: PAYMENT, paymentStatus: "captured" },
    ),
  },
  {
    name: "refund",
    operationId: "refundPayment",
    summary: "2.50 EUR of it",
    body: { amount: 250, currency: "EUR" },
    status: 201,
    answer: refunded(250),
  },
  {
    name: "refundAll",
    operationId: "refundPayment",
    summary: "All that is left",
    body: {},
    status: 201,
    answer: refunded(1250),
  },
  {
    name: "refundTooMuch",
    operationId: "refundPayment",
    summary: "More than was captured",
    body: { amount: 1251 },
    status: 422,
    answer: problem(
      "amount_exceeds_captured",
      `/payments/${PAYMENT}/refunds`,
      "At most 1250 minor units are left to refund.",
      { maxAmount: 1250 },
    ),
  },
  {
    name: "waiting",
    operationId: "listReviews",
    summary: "A capture that the gateway shows with another amount",
    status: 200,
    answer: {
      data: [
        {
          operationId: OPERATION,
          paymentId: PAYMENT,
          merchant: "default",
          kind: "capture",
          amount: 1250,
          currency: "EUR",
          currencyExponent: 2,
          status: "unknown",
          reason: otherAmount,
          since: AT,
          createdAt: AT,
          askedAt: AT,
          nextQuestionAt: "2026-03-01T12:05:00.000Z",
          gatewayKey: `${OPERATION}.1`,
          authorizationReference: `auth_${OPERATION}.1`,
        },
      ],
      nextCursor: null,
    },
  },
  {
    name: "moved",
    operationId: "resolveReview",
    summary: "The money moved",
    body: { outcome: "moved", evidence },
    status: 200,
    answer: {
      operation: { kind: "capture", ...operation() },
      payment: captured().payment,
    },
  },
  {
    name: "stillPending",
    operationId: "resolveReview",
    summary: "The gateway has not decided either",
    body: { outcome: "pending", evidence: "The gateway's support will decide by the end of the week." },
    status: 200,
    answer: {
      operation: {
        kind: "capture",
        ...operation({ status: "unknown", needsReview: true, settledAt: null }),
      },
      payment: captured(
        { status: "unknown", needsReview: true, settledAt: null },
        { status: "capturing", amountCaptured: 0 },
      ).payment,
    },
  },
  {
    name: "contradicted",
    operationId: "resolveReview",
    summary: "The gateway contradicts the verdict",
    body: { outcome: "not_moved", evidence },
    status: 409,
    answer: problem(
      "review_contradicts_gateway",
      `/reviews/${OPERATION}`,
      `The verdict not_moved on operation ${OPERATION} contradicts the gateway, which has just answered succeeded. ` +
        "Choose another verdict, or say why the gateway is wrong: overrideReason, on the command line --override.",
      {
        operationId: OPERATION,
        outcome: "not_moved",
        gateway: { answer: "succeeded", reference: `capture_${OPERATION}.1` },
      },
    ),
  },
  {
    name: "reviewHistory",
    operationId: "showReview",
    summary: "A capture that an operator has decided",
    status: 200,
    answer: {
      operation: { kind: "capture", ...operation() },
      payment: captured().payment,
      events: [
        {
          id: "019aa2b4-7c01-7d3a-9c55-3f1f6b8a2e11",
          type: "capture.started",
          at: AT,
          data: { by, lock, operationId: OPERATION, amount: 1250 },
        },
        {
          id: "019aa2b4-7c02-7d3a-9c55-3f1f6b8a2e12",
          type: "capture.unknown",
          at: AT,
          data: {
            by,
            lock,
            gateway: { asked: "capture", key: `${OPERATION}.1`, answer: "unknown", reason: "timeout" },
            operationId: OPERATION,
            reason: "timeout",
            dueAt: AT,
          },
        },
        {
          id: "019aa2b4-7c03-7d3a-9c55-3f1f6b8a2e13",
          type: "operation.needs_review",
          at: AT,
          data: {
            by,
            lock,
            gateway: { asked: "find", key: `${OPERATION}.1`, answer: "mismatch", evidence: otherAmount },
            operationId: OPERATION,
            kind: "capture",
            reason: otherAmount,
          },
        },
        {
          id: "019aa2b4-7c04-7d3a-9c55-3f1f6b8a2e14",
          type: "review.resolved",
          at: AT,
          data: {
            by,
            lock,
            gateway: {
              asked: "find",
              key: `${OPERATION}.1`,
              answer: "succeeded",
              reference: `capture_${OPERATION}.1`,
            },
            operationId: OPERATION,
            kind: "capture",
            outcome: "moved",
            evidence,
            resolvedBy: "operator",
          },
        },
      ],
    },
  },
  {
    name: "decidedBefore",
    operationId: "resolveReview",
    summary: "The review has already been resolved",
    body: { outcome: "not_moved", evidence },
    status: 409,
    answer: problem(
      "operation_not_in_review",
      `/reviews/${OPERATION}`,
      `Operation ${OPERATION} is succeeded: it is not under review.`,
      { operationId: OPERATION, operationStatus: "succeeded" },
    ),
  },
  {
    name: "auditedVerdict",
    operationId: "listAudit",
    summary: "A verdict, and who gave it",
    status: 200,
    answer: {
      data: [
        {
          id: "019aa2b4-7c01-7d3a-9c55-3f1f6b8a2e31",
          at: AT,
          kind: "review.resolved",
          actor: { type: "anyone" },
          origin: { over: "http", address: "127.0.0.1", requestId: REQUEST },
          reason: evidence,
          subject: OPERATION,
          merchant: "default",
          paymentId: PAYMENT,
          details: { outcome: "moved", gatewayReference: null, evidence, gateway: "succeeded" },
        },
      ],
      nextCursor: null,
    },
  },
  {
    name: "failedLater",
    operationId: "observePayment",
    summary: "A refund that failed after it had succeeded",
    status: 200,
    answer: {
      operations: [
        observed("authorize", { answer: "succeeded", reference: `auth_${OPERATION}.1` }, "agrees"),
        observed("capture", { answer: "succeeded", reference: `capture_${OPERATION}.1` }, "agrees"),
        observed("refund", { answer: "declined", reason: "refund_failed" }, "corrected"),
      ],
      payment: {
        ...captured().payment,
        refunds: [operation({ status: "failed", failureCode: "refund_declined" })],
      },
      picture: { answer: "seen" },
      nextCursor: null,
    },
  },
  {
    name: "told",
    operationId: "listEvents",
    summary: "An authorization, and nothing more yet",
    status: 200,
    answer: {
      data: [
        {
          id: OPERATION,
          type: "payment.authorized",
          timestamp: AT,
          data: {
            payment: payment(),
            operation: { kind: "authorize", ...operation({}) },
            sequence: 1,
          },
        },
      ],
      nextCursor: writeEventCursor(cursorAt({ position: 1, id: OPERATION })),
      hasMore: false,
    },
  },
  {
    name: "once",
    operationId: "listGatewayMoves",
    summary: "Captured once",
    status: 200,
    answer: {
      moves: [
        { kind: "authorize", gatewayKey: `${OPERATION}.1`, amount: 1250, at: AT },
        { kind: "capture", gatewayKey: `${OPERATION}.1`, amount: 1250, at: AT },
      ],
    },
  },
  {
    name: "queue",
    operationId: "listLocks",
    summary: "One holder, one request waiting",
    status: 200,
    answer: {
      data: [
        {
          resourceId: `payment:${PAYMENT}`,
          holder: { ownerId: null, host: null, pid: null, purpose: "capture", since: AT },
          waiting: 1,
        },
      ],
    },
  },
  {
    name: "alive",
    operationId: "isHealthy",
    summary: "The process answers",
    status: 200,
    answer: { status: "ok" },
  },
  {
    name: "ready",
    operationId: "isReady",
    summary: "All dependencies are up",
    status: 200,
    answer: { status: "ready", dependencies: { store: "up" } },
  },
] as const satisfies readonly DocumentedExample[];

export type ExampleName = (typeof examples)[number]["name"];
