import express, { type Express, type RequestHandler } from "express";
import type { Logger } from "pino";
import type { CustomerPages } from "../../application/ports/customer/customer-pages";
import type { AuthenticateCaller } from "../../application/use-cases/authenticate-caller";
import { listAudit, type AuditParts } from "./endpoints/audit/list-audit";
import type { GatewayMovesParts } from "./endpoints/gateway/list-gateway-moves";
import { catchUpWithGateway } from "./endpoints/gateway/catch-up-with-gateway";
import type { GatewayEventUseCases } from "./endpoints/gateway/gateway-event-parts";
import { customerEndpoints, sandboxCustomerEndpoints } from "./endpoints/customer/customer-endpoints";
import { CUSTOMER_PAGES } from "./endpoints/customer/customer-parts";
import { listGatewayMoves } from "./endpoints/gateway/list-gateway-moves";
import { observePayment, type ObservationParts } from "./endpoints/gateway/observe-payment";
import { receiveStripeAccountEvent, receiveStripeEvent } from "./endpoints/gateway/receive-stripe-event";
import type { OwnConsoleParts } from "../console/console-parts";
import { mountConsole } from "../console/serving/mount-console";
import type { Endpoint } from "./endpoints/endpoint";
import type { WaitingReaders } from "./endpoints/events/waiting-readers";
import { mount } from "./endpoints/mount";
import { paymentEndpoints } from "./endpoints/payments/payment-endpoints";
import type { PaymentParts, PaymentWorld } from "./endpoints/payments/payment-parts";
import { reviewEndpoints } from "./endpoints/reviews/review-endpoints";
import type { ReviewParts } from "./endpoints/reviews/review-parts";
import { sandboxEndpoints } from "./endpoints/sandboxes/sandbox-endpoints";
import type { SandboxParts } from "./endpoints/sandboxes/sandbox-parts";
import type { ReadinessParts } from "./endpoints/service/is-ready";
import { listLocks, type LockParts } from "./endpoints/service/list-locks";
import { downGauge } from "./endpoints/service/readiness";
import { serviceEndpoints } from "./endpoints/service/service-endpoints";
import { mountDocsFiles } from "./endpoints/service/show-docs";
import { showMetrics, type MetricsParts } from "./endpoints/service/show-metrics";
import { webhookEndpoints } from "./endpoints/webhooks/webhook-endpoints";
import type { WebhookUseCases } from "./endpoints/webhooks/webhook-parts";
import { openApiDocument } from "./openapi/openapi-document";
import { errorHandler, logFailure, routeNotFound } from "./problems/error-handler";
import { RequestError } from "./problems/request-error";
import { authenticated } from "./requests/authentication";
import { accessLog } from "./server/access-log";
import { requestHistogram } from "./server/http-metrics";

/** What all endpoints need, and what only some instances have. */
export type HttpAppParts = PaymentWorld &
  ReviewParts &
  ObservationParts &
  LockParts &
  AuditParts &
  ReadinessParts & {
    readonly authenticate: Pick<AuthenticateCaller, "execute">;
    readonly logger: Logger;
    /** Of the program, for `/openapi.json`. */
    readonly version: string;
    readonly readers: WaitingReaders;
    /** Where this server is reached. */
    readonly ownUrl: () => string;
    /** Left out where nothing is traced. */
    readonly traceRequests?: RequestHandler | undefined;
    /** These are left out where there are none, and then they have no routes. */
    readonly metrics?: MetricsParts["metrics"] | undefined;
    /** Who may see them, if not everybody who reaches this server. */
    readonly metricsAccess?: "operator" | undefined;
    readonly sandboxes?: SandboxParts["sandboxes"] | undefined;
    readonly webhooks?: WebhookUseCases | undefined;
    readonly gatewayMoves?: GatewayMovesParts["gatewayMoves"] | undefined;
    /** Of live payments. Sandboxes have their own. */
    readonly customerPages?: CustomerPages | undefined;
    readonly gatewayEvents?: GatewayEventUseCases | undefined;
    readonly console?: OwnConsoleParts | undefined;
  };

/** The whole HTTP interface, without a server around it. Each endpoint gets the middleware it needs and no more. */
export function createHttpApp(parts: HttpAppParts): Express {
  const {
    authenticate,
    lifecycle,
    readers,
    lockTimeouts,
    logger,
    metrics,
    sandboxes,
    gatewayMoves,
    customerPages,
    ownUrl,
    version,
  } = parts;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");

  if (parts.traceRequests !== undefined) app.use(parts.traceRequests);
  const histogram = metrics === undefined ? [] : [requestHistogram(metrics)];
  app.use(accessLog(logger, [...histogram, ...(parts.console === undefined ? [] : [parts.console.recent])]));
  app.use((request, response, next) => {
    // As soon as this instance says that it goes: callers come back over a new connection, to another instance.
    if (!lifecycle.isReady) response.setHeader("Connection", "close");
    // HTTP/1.1 asks servers to refuse this. Node would, too, but without a word.
    if (request.headers.host === undefined && request.httpVersion === "1.1") {
      throw new RequestError("malformed_request", "There is no Host header.");
    }
    next();
  });

  const knowCaller = authenticated(authenticate);
  const add = <Parts>(endpoints: readonly Endpoint<Parts>[], theirs: Parts) =>
    mount(app, endpoints, theirs, knowCaller);
  const waiting = { lockTimeouts, lifecycle, readers };
  const telling = {
    logFailure: (error: unknown, requestId: string) => logFailure(logger, error, requestId),
  };
  const live: PaymentParts = {
    inWorld: (work) => work(parts),
    ...waiting,
    ...telling,
    customerUrl: (path) => `${ownUrl()}${CUSTOMER_PAGES}${path}`,
  };
  let written = { at: "", json: "" };
  const document = (at: string): string => {
    if (written.json === "" || written.at !== at)
      written = { at, json: JSON.stringify(openApiDocument(version, at)) };
    return written.json;
  };

  add(paymentEndpoints, live);
  const { webhooks } = parts;
  if (webhooks !== undefined) add(webhookEndpoints, { inWebhooks: (work) => work(webhooks), lifecycle });
  add(reviewEndpoints, parts);
  if (sandboxes !== undefined) {
    add(sandboxEndpoints, { sandboxes, ...waiting, ...telling, ownUrl });
    add(sandboxCustomerEndpoints, { sandboxes, ownUrl });
  }
  if (customerPages !== undefined) {
    add(customerEndpoints, { inWorld: (_ids, work) => work({ ...parts, customerPages }), ownUrl });
  }
  add([listAudit], parts);
  add([listLocks], parts);
  if (gatewayMoves !== undefined) add([listGatewayMoves], { gatewayMoves });
  add([observePayment], parts);
  const { receiveGatewayEvent, receiveAccountEvent, catchUp } = parts.gatewayEvents ?? {};
  if (receiveGatewayEvent !== undefined) add([receiveStripeEvent], { receiveGatewayEvent });
  if (receiveAccountEvent !== undefined) add([receiveStripeAccountEvent], { receiveAccountEvent });
  if (catchUp !== undefined) add([catchUpWithGateway], { catchUp });
  add(serviceEndpoints, { ...parts, document });
  mountDocsFiles(app);
  if (parts.console !== undefined) mountConsole(app, { ...parts, ...parts.console });
  if (metrics !== undefined) {
    downGauge(metrics, parts.readiness);
    add([{ ...showMetrics, access: parts.metricsAccess ?? showMetrics.access }], { metrics });
  }
  app.use(routeNotFound);
  app.use(errorHandler(logger));
  return app;
}
