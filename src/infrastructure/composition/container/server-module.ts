import { ContainerModule } from "inversify";
import { setTimeout as delay } from "node:timers/promises";
import { BackgroundWork } from "../../../application/background/background-work";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";
import { WaitingReaders } from "../../../interfaces/http/endpoints/events/waiting-readers";
import { createHttpApp, type HttpAppParts } from "../../../interfaces/http/http-app";
import { createHttpServer } from "../../../interfaces/http/server/http-server";
import { Lifecycle } from "../../../interfaces/http/server/lifecycle";
import { configurationEntries } from "../../configuration/configuration";
import { lostLogInWords } from "../../persistence/sqlite/sqlite-commit-mark";
import { serverMetrics } from "../../telemetry/server-metrics";
import type { OpenHints } from "../opening/open-hints";
import type { OpenSandboxes } from "../opening/open-sandboxes";
import type { OpenWebhooks } from "../opening/open-webhooks";
import { Service, type ServiceParts } from "../serving/service";
import { startingLines } from "../serving/starting-lines";
import { assembles } from "./assembles";
import { constructs } from "./constructs";
import { OnlyWithKeys } from "../../../application/use-cases/only-with-keys";
import { callerUseCases, liveUseCases } from "./use-case-arguments";
import { tokens } from "./tokens";

const lifecycle = constructs(Lifecycle, [tokens.refusalToMove]);

interface ServerModuleParts {
  readonly version: string;
  readonly webhooks: OpenWebhooks;
  readonly hints: OpenHints;
  readonly sandboxes: OpenSandboxes | undefined;
  readonly ownUrl: () => string;
  readonly needsKeys: boolean;
  /** Its pages know their addresses from the root of the server: where the API is mounted elsewhere, there are none. */
  readonly hasConsole: boolean;
  /** Left out: everybody who reaches the server may see them. */
  readonly metricsAccess?: HttpAppParts["metricsAccess"];
}

/** What only `serve` needs: the HTTP app, the server around it, and the work in the background. */
export function serverModule({
  version,
  webhooks,
  hints,
  sandboxes,
  ownUrl,
  needsKeys,
  hasConsole,
  metricsAccess,
}: ServerModuleParts): ContainerModule {
  return new ContainerModule(({ bind }) => {
    bind(tokens.version).toConstantValue(version);
    bind(tokens.ownUrl).toConstantValue(ownUrl);
    bind(tokens.openWebhooks).toConstantValue(webhooks);
    bind(tokens.webhooks).toConstantValue({
      webhookEndpoints: webhooks.endpoints,
      webhookDeliveries: webhooks.deliveries,
    });
    bind(tokens.openHints).toConstantValue(hints);
    bind(tokens.gatewayEventUseCases).toConstantValue(hints.useCases);
    bind(tokens.openSandboxes).toConstantValue(sandboxes);
    bind(tokens.sandboxes).toConstantValue(sandboxes?.sandboxes);
    bind(lifecycle).toSelf();
    bind(WaitingReaders).toConstantValue(new WaitingReaders());
    bind(Service).toResolvedValue(
      ...assembles((parts: ServiceParts) => new Service(parts), {
        configuration: tokens.configuration,
        server: tokens.httpServer,
        lifecycle: Lifecycle,
        background: tokens.backgroundWork,
        webhooks: tokens.openWebhooks,
        hints: tokens.openHints,
        sandboxes: tokens.openSandboxes,
        closers: tokens.closers,
        refusalToMove: tokens.refusalToMove,
        logger: tokens.logger,
        startingLines: tokens.startingLines,
      }),
    );
    bind(tokens.startingLines).toResolvedValue(startingLines, [
      tokens.configuration,
      tokens.lockSetting,
      tokens.lostLogs,
    ]);
    bind(tokens.refusalToMove).toResolvedValue(
      // Callers of a store that has forgotten what it answered would move their money again.
      (lostLogs) => {
        const lost = lostLogs.find(({ isAccepted }) => !isAccepted);
        return lost === undefined
          ? null
          : new StoreUnavailableError(lostLogInWords(lost), { reason: "log_lost" });
      },
      [tokens.lostLogs],
    );
    bind(tokens.readiness).toResolvedValue(
      (payments, locks, gateway) => {
        const probes = { store: () => payments.ping(), locks, gateway };
        return Object.fromEntries(
          Object.entries(probes).flatMap(([name, probe]) => (probe ? [[name, probe]] : [])),
        );
      },
      [tokens.payments, tokens.lockProbe, tokens.gatewayProbe],
    );
    bind(tokens.serverMetrics).toResolvedValue(serverMetrics, [
      tokens.metrics,
      tokens.payments,
      tokens.clock,
      tokens.storeTelemetry,
    ]);
    bind(tokens.authenticate).toResolvedValue(
      (authenticate) => (needsKeys ? new OnlyWithKeys(authenticate) : authenticate),
      [callerUseCases.authenticate],
    );
    bind(tokens.httpAppParts).toResolvedValue(
      ...assembles(
        (parts: Omit<HttpAppParts, "metricsAccess">): HttpAppParts => ({ ...parts, metricsAccess }),
        {
          ...liveUseCases,
          ...callerUseCases,
          authenticate: tokens.authenticate,
          eventFeed: tokens.eventFeed,
          readers: WaitingReaders,
          lockTimeouts: tokens.lockTimeouts,
          lockQueues: tokens.lockQueues,
          auditTrail: tokens.auditTrail,
          readiness: tokens.readiness,
          lifecycle: Lifecycle,
          logger: tokens.logger,
          traceRequests: tokens.traceRequests,
          metrics: tokens.serverMetrics,
          version: tokens.version,
          webhooks: tokens.webhooks,
          sandboxes: tokens.sandboxes,
          gatewayMoves: tokens.gatewayMoves,
          customerPages: tokens.customerPages,
          ownUrl: tokens.ownUrl,
          gatewayEvents: tokens.gatewayEventUseCases,
          console: tokens.console,
        },
      ),
    );
    bind(tokens.httpApp).toResolvedValue(createHttpApp, [tokens.httpAppParts]);
    bind(tokens.console).toResolvedValue(
      (sessions, apiKeys, configuration, recent, clock, newId) =>
        hasConsole
          ? { sessions, apiKeys, settings: configurationEntries(configuration), recent, clock, newId }
          : undefined,
      [
        callerUseCases.consoleSessions,
        callerUseCases.manageApiKeys,
        tokens.configuration,
        tokens.recentHour,
        tokens.clock,
        tokens.newSessionId,
      ],
    );
    bind(tokens.httpServer).toResolvedValue((app) => createHttpServer(app), [tokens.httpApp]);
    bind(tokens.backgroundWork).toResolvedValue(
      ({ settings }, expire, reconcile, logger) =>
        new BackgroundWork({
          passes: [
            { name: "expire", run: (signal) => expire.execute(signal) },
            { name: "reconcile", run: (signal) => reconcile.execute(signal) },
          ],
          intervalMs: settings.passInterval.value * 1_000,
          sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
          onReport: (pass, report) => {
            if (report.done + report.failed > 0) logger.info({ pass, ...report }, "background pass");
          },
          onError: (pass, error) => {
            logger.error({ err: error, pass }, "a background pass failed; the next one tries again");
          },
        }),
      [
        tokens.configuration,
        liveUseCases.expireAuthorizations,
        liveUseCases.reconcileOperations,
        tokens.logger,
      ],
    );
  });
}
