import type { DocumentedRoute } from "./documented-route";

/** What an operator, a balancer or a reader asks. */
export const serviceRoutes: readonly DocumentedRoute[] = [
  {
    method: "get",
    path: "/gateway/payments/{paymentId}",
    operationId: "listGatewayMoves",
    tag: "Simulated gateway",
    summary: "How often the simulated gateway moved money for a payment",
    description: "What the gateway says, whatever the store believes. There only with the simulated gateway.",
    access: "operator",
    answers: [{ status: 200, description: "In the order in which it happened.", schema: "GatewayMoves" }],
    problems: ["invalid_payment_id"],
  },
  {
    method: "post",
    path: "/gateway/payments/{paymentId}/observe",
    operationId: "observePayment",
    tag: "Reviews",
    summary: "Ask the gateway again about what has ended, and correct what it has taken back",
    description:
      "With every gateway. Nothing is sent because of it. A refund that failed at the gateway after it had succeeded is " +
      "`failed` from then on, and another key may refund again; its own key keeps its first answer. Any other " +
      "contradiction goes before a person, and is listed at `/reviews`.",
    access: "operator",
    answers: [
      {
        status: 200,
        description: "What the gateway says beside what was stored, and the payment as it is now.",
        schema: "Observed",
      },
    ],
    problems: [
      "invalid_payment_id",
      "payment_not_found",
      "payment_busy",
      "lock_timeout",
      "lock_unavailable",
      "lock_lost",
    ],
  },
  {
    method: "get",
    path: "/locks",
    operationId: "listLocks",
    tag: "Service",
    summary: "Who holds which lock in this instance, and how many wait",
    description:
      "Locks that nobody here holds or wants are not listed; `holdfast locks` looks at the locks themselves.",
    access: "operator",
    answers: [{ status: 200, description: "In the order of their ids.", schema: "LockList" }],
    problems: [],
  },
  {
    method: "get",
    path: "/healthz",
    operationId: "isHealthy",
    tag: "Service",
    summary: "Whether the process answers",
    access: "open",
    answers: [{ status: 200, description: "It does.", schema: "Healthy" }],
    problems: [],
  },
  {
    method: "get",
    path: "/readyz",
    operationId: "isReady",
    tag: "Service",
    summary: "Whether requests should be sent here, and what is down if not",
    access: "open",
    answers: [{ status: 200, description: "Ready.", schema: "Ready" }],
    problems: ["service_unavailable"],
  },
  {
    method: "get",
    path: "/metrics",
    operationId: "showMetrics",
    tag: "Service",
    summary: "Metrics for Prometheus",
    access: "open",
    answers: [{ status: 200, description: "Prometheus text.", contentType: "text/plain" }],
    problems: [],
  },
  {
    method: "get",
    path: "/openapi.json",
    operationId: "showDocument",
    tag: "Service",
    summary: "This document",
    access: "open",
    answers: [{ status: 200, description: "OpenAPI 3.1.", contentType: "application/json" }],
    problems: [],
  },
  {
    method: "get",
    path: "/docs",
    operationId: "showDocs",
    tag: "Service",
    summary: "This document as a page",
    access: "open",
    answers: [
      { status: 200, description: "A page that loads nothing from elsewhere.", contentType: "text/html" },
    ],
    problems: [],
  },
];
