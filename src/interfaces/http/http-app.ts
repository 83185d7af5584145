import express, { type Express } from "express";
import type { Logger } from "pino";
import type { LockQueues } from "../../application/ports/lock-queues";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { AuthenticateCaller } from "../../application/use-cases/authenticate-caller";
import { accessLog } from "./server/access-log";
import { answerText } from "./requests/answer";
import { authenticated } from "./requests/authentication";
import { errorHandler, routeNotFound } from "./problems/error-handler";
import { gatewayRouter, type GatewayRouterParts } from "./gateway-router";
import { healthRouter } from "./health-router";
import { requestHistogram, type MetricsRegistry } from "./server/http-metrics";
import type { Lifecycle } from "./server/lifecycle";
import { docsRouter } from "./docs-router";
import { locksRouter } from "./locks-router";
import { paymentsRouter, type PaymentUseCases } from "./payments-router";
import { downGauge, type Probe } from "./endpoints/service/readiness";
import { reviewsRouter, type ReviewsRouterParts } from "./reviews-router";
import { RequestError } from "./problems/request-error";
import { route } from "./routes";
import { sandboxesRouter, type SandboxesRouterParts } from "./sandboxes-router";

export interface HttpAppParts extends PaymentUseCases {
  readonly reviewOperations: ReviewsRouterParts["reviewOperations"];
  readonly observePayment: GatewayRouterParts["observePayment"];
  readonly authenticate: Pick<AuthenticateCaller, "execute">;
  /** The configured wait for a payment's lock; a request only ever shortens it. */
  readonly lockTimeouts: LockTimeoutPolicy;
  /** What `/locks` shows. */
  readonly lockQueues: LockQueues;
  /** What `/readyz` asks, by name. */
  readonly readiness: Readonly<Record<string, Probe>>;
  readonly lifecycle: Lifecycle;
  readonly logger: Logger;
  /** Of the program, for `/openapi.json`. */
  readonly version: string;
  /** Told of each request, and shown at `/metrics`. */
  readonly metrics?: MetricsRegistry;
  /** Left out where there are none. */
  readonly sandboxes?: SandboxesRouterParts["sandboxes"];
  /** Only where the gateway is the simulated one. */
  readonly gatewayMoves?: NonNullable<GatewayRouterParts["gatewayMoves"]>;
}

/** The whole HTTP interface, without a server around it. Each route gets the middleware it needs and no more. */
export function createHttpApp(parts: HttpAppParts): Express {
  const { authenticate, lifecycle, lockTimeouts, logger, metrics, sandboxes } = parts;
  const app = express();
  app.disable("x-powered-by");
  app.disable("etag");
  app.set("query parser", "simple");

  app.use(accessLog(logger, metrics === undefined ? undefined : requestHistogram(metrics)));
  app.use((request, response, next) => {
    // As soon as this instance says that it goes: whoever comes now comes back over a new connection, to another one.
    if (!lifecycle.isReady) response.setHeader("Connection", "close");
    // HTTP/1.1 asks servers to refuse this. Node would, too, but without a word.
    if (request.headers.host === undefined && request.httpVersion === "1.1") {
      throw new RequestError("malformed_request", "There is no Host header.");
    }
    next();
  });

  const knowCaller = authenticated(authenticate);
  app.use(
    "/payments",
    knowCaller,
    paymentsRouter({ inWorld: (_request, _response, work) => work(parts), lockTimeouts, lifecycle }),
  );
  app.use("/reviews", knowCaller, reviewsRouter(parts));
  if (sandboxes !== undefined) {
    app.use("/sandboxes", knowCaller, sandboxesRouter({ sandboxes, lockTimeouts, lifecycle }));
  }
  app.use("/locks", knowCaller, locksRouter(parts.lockQueues));
  app.use("/gateway", knowCaller, gatewayRouter(parts));

  app.use(healthRouter(parts));
  if (metrics !== undefined) downGauge(metrics, parts.readiness);
  app.use(docsRouter(parts.version));
  if (metrics !== undefined) {
    route(app, "/metrics", {
      get: async (_request, response) => {
        answerText(response, 200, metrics.contentType, await metrics.metrics());
      },
    });
  }
  app.use(routeNotFound);
  app.use(errorHandler(logger));
  return app;
}
