import type { ServiceIdentifier } from "inversify";
import type { Server } from "node:http";
import type { Express } from "express";
import type { Logger } from "pino";
import type { PrometheusContentType, Registry } from "prom-client";
import type { BackgroundWork } from "../../../application/background/background-work";
import type { OperationContext } from "../../../application/operations/operation-context";
import type { AskKeyOwner } from "../../../application/ports/accounts/account-secrets";
import type {
  GatewayAccounts,
  MerchantAccountStore,
} from "../../../application/ports/accounts/merchant-account-store";
import type { AuditTrail } from "../../../application/ports/audit/audit-trail";
import type { ApiKeyStore } from "../../../application/ports/api-key-store";
import type { AuthorizationLookup } from "../../../application/ports/authorization-lookup";
import type { Clock } from "../../../application/ports/clock";
import type { ConsoleSessionStore } from "../../../application/ports/console/console-session-store";
import type { EventFeed } from "../../../application/ports/events/event-feed";
import type { HintStore } from "../../../application/ports/gateway-events/hint-store";
import type { WebhookStore } from "../../../application/ports/events/webhook-store";
import type { IdGenerator } from "../../../application/ports/id-generator";
import type { LockObserver } from "../../../application/ports/lock-observer";
import type { LockProvider } from "../../../application/ports/lock-provider";
import type { LockQueues } from "../../../application/ports/lock-queues";
import type { LockTimeoutPolicy } from "../../../application/ports/lock-timeout";
import type { PaymentGateway } from "../../../application/ports/payment-gateway";
import type { PaymentRepository, StoreUnavailableError } from "../../../application/ports/payment-repository";
import type { StoreMigration } from "../../../application/ports/store-migration";
import type { Sandboxes } from "../../../application/sandboxes/sandboxes";
import type { AuthenticateCaller } from "../../../application/use-cases/authenticate-caller";
import type { GatewayAccount } from "../../../application/use-cases/import-authorization";
import type { PaymentId } from "../../../domain/identifiers";
import type { HttpAppParts } from "../../../interfaces/http/http-app";
import type { RecentHour } from "../../../interfaces/console/attention/recent-hour";
import type { WebhookUseCases } from "../../../interfaces/http/endpoints/webhooks/webhook-parts";
import type { GatewayEventUseCases } from "../../../interfaces/http/endpoints/gateway/gateway-event-parts";
import type { OwnConsoleParts } from "../../../interfaces/console/console-parts";
import type { Configuration } from "../../configuration/configuration";
import type { LockSetting } from "../../configuration/lock-catalogue";
import type { LostLog } from "../../persistence/sqlite/sqlite-commit-mark";
import type { StoreTelemetry } from "../../telemetry/store-metrics";
import type { Closers } from "../opening/closers";
import type { OpenGateway, OpenGatewayEvents } from "../opening/open-gateway";
import type { OpenHints } from "../opening/open-hints";
import type { OpenSecrets } from "../opening/open-secrets";
import type { OpenSandboxes } from "../opening/open-sandboxes";
import type { OpenTracing } from "../opening/open-tracing";
import type { OpenWebhooks } from "../opening/open-webhooks";

type Probe = () => Promise<void>;
type PassFailed = (error: unknown, paymentId: PaymentId) => void;

/**
 * Each names one thing and its type, so that binding or asking for the wrong one does not compile. A class that the
 * container makes is its own token. `undefined` is what some adapters do not have.
 */
export const tokens = {
  configuration: token<Configuration>("Configuration"),
  closers: token<Closers>("Closers"),
  clock: token<Clock>("Clock"),
  ids: token<IdGenerator>("IdGenerator"),
  newSecret: token<() => string>("newSecret"),
  newSessionId: token<() => string>("newSessionId"),

  logger: token<Logger>("Logger"),
  metrics: token<Registry<PrometheusContentType>>("Registry"),
  lockObserver: token<LockObserver>("LockObserver"),
  recentHour: token<RecentHour>("RecentHour"),
  workTraces: token<OpenTracing["work"] | undefined>("WorkTraces"),
  traceRequests: token<OpenTracing["requests"] | undefined>("traceRequests"),
  traceWebhooks: token<OpenTracing["webhooks"] | undefined>("traceWebhooks"),

  lockSetting: token<LockSetting>("LockSetting"),
  lockTimeouts: token<LockTimeoutPolicy>("LockTimeoutPolicy"),
  locks: token<LockProvider>("LockProvider"),
  lockQueues: token<LockQueues>("LockQueues"),
  lockProbe: token<Probe | undefined>("lockProbe"),

  payments: token<PaymentRepository>("PaymentRepository"),
  eventFeed: token<EventFeed>("EventFeed"),
  webhookStore: token<WebhookStore>("WebhookStore"),
  hintStore: token<HintStore>("HintStore"),
  merchantAccounts: token<MerchantAccountStore>("MerchantAccountStore"),
  gatewayAccounts: token<GatewayAccounts | undefined>("GatewayAccounts"),
  apiKeys: token<ApiKeyStore>("ApiKeyStore"),
  consoleSessions: token<ConsoleSessionStore>("ConsoleSessionStore"),
  auditTrail: token<AuditTrail>("AuditTrail"),
  migration: token<StoreMigration>("StoreMigration"),
  storeTelemetry: token<StoreTelemetry>("StoreTelemetry"),
  lostLogs: token<readonly LostLog[]>("lostLogs"),

  openSecrets: token<OpenSecrets>("OpenSecrets"),
  boxToSeal: token<OpenSecrets["boxToSeal"]>("boxToSeal"),
  askKeyOwner: token<AskKeyOwner>("AskKeyOwner"),
  stripeApiKey: token<string | null>("stripeApiKey"),

  gateway: token<PaymentGateway>("PaymentGateway"),
  gatewayAccount: token<GatewayAccount>("GatewayAccount"),
  authorizationLookup: token<AuthorizationLookup>("AuthorizationLookup"),
  gatewayMoves: token<OpenGateway["moves"]>("gatewayMoves"),
  customerPages: token<OpenGateway["customerPages"]>("customerPages"),
  gatewayProbe: token<Probe | undefined>("gatewayProbe"),
  gatewayEvents: token<OpenGatewayEvents | undefined>("gatewayEvents"),

  operations: token<OperationContext>("OperationContext"),
  reconcilingFailed: token<PassFailed>("reconcilingFailed"),
  expiringFailed: token<PassFailed>("expiringFailed"),

  version: token<string>("version"),
  ownUrl: token<() => string>("ownUrl"),
  openWebhooks: token<OpenWebhooks>("OpenWebhooks"),
  openHints: token<OpenHints>("OpenHints"),
  gatewayEventUseCases: token<GatewayEventUseCases>("GatewayEventUseCases"),
  webhooks: token<WebhookUseCases>("WebhookUseCases"),
  openSandboxes: token<OpenSandboxes | undefined>("OpenSandboxes"),
  sandboxes: token<Sandboxes | undefined>("Sandboxes"),
  refusalToMove: token<StoreUnavailableError | null>("refusalToMove"),
  console: token<OwnConsoleParts | undefined>("console"),
  readiness: token<Readonly<Record<string, Probe>>>("readiness"),
  serverMetrics: token<Registry<PrometheusContentType>>("serverMetrics"),
  authenticate: token<Pick<AuthenticateCaller, "execute">>("Authenticate"),
  httpAppParts: token<HttpAppParts>("HttpAppParts"),
  httpApp: token<Express>("HttpApp"),
  httpServer: token<Server>("HttpServer"),
  startingLines: token<readonly string[]>("startingLines"),
  backgroundWork: token<BackgroundWork>("BackgroundWork"),
} as const;

function token<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}
