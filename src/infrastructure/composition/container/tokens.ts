import type { ServiceIdentifier } from "inversify";
import type { Server } from "node:http";
import type { Express } from "express";
import type { Logger } from "pino";
import type { PrometheusContentType, Registry } from "prom-client";
import type { BackgroundWork } from "../../../application/background/background-work";
import type { OperationContext } from "../../../application/operations/operation-context";
import type {
  GatewayAccounts,
  MerchantAccountStore,
} from "../../../application/ports/accounts/merchant-account-store";
import type { ApiKeyStore } from "../../../application/ports/api-key-store";
import type { AuthorizationLookup } from "../../../application/ports/authorization-lookup";
import type { Clock } from "../../../application/ports/clock";
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
import type { GatewayAccount } from "../../../application/use-cases/import-authorization";
import type { PaymentId } from "../../../domain/identifiers";
import type { WebhookUseCases } from "../../../interfaces/http/endpoints/webhooks/webhook-parts";
import type { GatewayEventUseCases } from "../../../interfaces/http/endpoints/gateway/gateway-event-parts";
import type { Configuration } from "../../configuration/configuration";
import type { LockSetting } from "../../configuration/lock-catalogue";
import type { LostLog } from "../../persistence/sqlite/sqlite-commit-mark";
import type { ConnectionCounts } from "../../telemetry/server-metrics";
import type { Closers } from "../opening/closers";
import type { OpenGateway, OpenGatewayEvents } from "../opening/open-gateway";
import type { OpenHints } from "../opening/open-hints";
import type { OpenSandboxes } from "../opening/open-sandboxes";
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

  logger: token<Logger>("Logger"),
  metrics: token<Registry<PrometheusContentType>>("Registry"),
  lockObserver: token<LockObserver>("LockObserver"),

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
  migration: token<StoreMigration>("StoreMigration"),
  storeConnections: token<ConnectionCounts | undefined>("storeConnections"),
  lostLogs: token<readonly LostLog[]>("lostLogs"),

  gateway: token<PaymentGateway>("PaymentGateway"),
  gatewayAccount: token<GatewayAccount>("GatewayAccount"),
  authorizationLookup: token<AuthorizationLookup>("AuthorizationLookup"),
  gatewayMoves: token<OpenGateway["moves"]>("gatewayMoves"),
  gatewayProbe: token<Probe | undefined>("gatewayProbe"),
  gatewayEvents: token<OpenGatewayEvents | undefined>("gatewayEvents"),

  operations: token<OperationContext>("OperationContext"),
  reconcilingFailed: token<PassFailed>("reconcilingFailed"),
  expiringFailed: token<PassFailed>("expiringFailed"),

  version: token<string>("version"),
  openWebhooks: token<OpenWebhooks>("OpenWebhooks"),
  openHints: token<OpenHints>("OpenHints"),
  gatewayEventUseCases: token<GatewayEventUseCases>("GatewayEventUseCases"),
  webhooks: token<WebhookUseCases>("WebhookUseCases"),
  openSandboxes: token<OpenSandboxes | undefined>("OpenSandboxes"),
  sandboxes: token<Sandboxes | undefined>("Sandboxes"),
  refusalToMove: token<StoreUnavailableError | null>("refusalToMove"),
  readiness: token<Readonly<Record<string, Probe>>>("readiness"),
  serverMetrics: token<Registry<PrometheusContentType>>("serverMetrics"),
  httpApp: token<Express>("HttpApp"),
  httpServer: token<Server>("HttpServer"),
  startingLines: token<readonly string[]>("startingLines"),
  backgroundWork: token<BackgroundWork>("BackgroundWork"),
} as const;

function token<T>(name: string): ServiceIdentifier<T> {
  return Symbol(name);
}
