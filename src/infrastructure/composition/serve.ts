import { setTimeout as delay } from "node:timers/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { BackgroundWork } from "../../application/operations/background-work";
import { longestHoldMs } from "../../application/operations/budgets";
import { StoreUnavailableError } from "../../application/ports/payment-repository";
import { GracefulShutdown, type EndingSignal } from "../../interfaces/http/server/graceful-shutdown";
import { createHttpApp } from "../../interfaces/http/http-app";
import { createHttpServer } from "../../interfaces/http/server/http-server";
import { Lifecycle } from "../../interfaces/http/server/lifecycle";
import { refusalToListen } from "../../interfaces/http/server/listening-rule";
import { withoutPassword, type LocksBackendSetting, type StoreSetting } from "../configuration/adapter-urls";
import { ConfigurationError, type Configuration } from "../configuration/configuration";
import { inWords } from "../configuration/lock-timeouts";
import type { LeaseSettings } from "../locking/lease/lease-settings";
import { lostLogInWords } from "../persistence/sqlite-commit-mark";
import { openApplication, type Application } from "./application";
import { openSandboxes, type OpenSandboxes } from "./sandboxes-module";
import { serverMetrics } from "./telemetry-module";
import { tokens } from "./tokens";

/** For what is written last to leave the process. */
const LEFTOVERS_MS = 500;
const SIGNALS: readonly EndingSignal[] = ["SIGINT", "SIGTERM"];

/** The HTTP API and its background work, until a signal ends them. Resolves when everything is closed. */
export async function serve(
  configuration: Configuration,
  version: string,
  say: (line: string) => void,
  open: () => Promise<Application> = () => openApplication(configuration, { purpose: "serve" }),
  sandboxLease?: Partial<LeaseSettings>,
): Promise<void> {
  const application = await open();
  let sandboxes: OpenSandboxes | undefined;
  try {
    await refuseOpenDoor(configuration, application);
    await refuseSilentLocks(configuration, application);
    if (configuration.settings.sandboxLimit.value > 0)
      sandboxes = await openSandboxes(
        configuration,
        application,
        () => advertisedUrl(configuration, server),
        sandboxLease,
      );
  } catch (error) {
    await application.close();
    throw error;
  }
  const { container } = application;
  const { settings, lockTimeouts } = configuration;
  const logger = container.get(tokens.logger);
  const refusal = refusalToMove(application);
  const lifecycle = new Lifecycle(refusal);
  const payments = container.get(tokens.payments);
  const metrics = container.get(tokens.metrics);
  serverMetrics(metrics, payments, application.storeConnections);
  const app = createHttpApp({
    metrics,
    authorizePayment: container.get(tokens.authorizePayment),
    importAuthorization: container.get(tokens.importAuthorization),
    capturePayment: container.get(tokens.capturePayment),
    voidPayment: container.get(tokens.voidPayment),
    refundPayment: container.get(tokens.refundPayment),
    observePayment: container.get(tokens.observePayment),
    reviewOperations: container.get(tokens.reviewOperations),
    readPayments: container.get(tokens.readPayments),
    authenticate: container.get(tokens.authenticateCaller),
    lockTimeouts: container.get(tokens.lockTimeouts),
    lockQueues: application.lockQueues,
    readiness: {
      store: () => payments.ping(),
      ...(application.lockProbe === undefined ? {} : { locks: application.lockProbe }),
      ...(application.gatewayProbe === undefined ? {} : { gateway: application.gatewayProbe }),
    },
    lifecycle,
    logger,
    version,
    ...(sandboxes === undefined ? {} : { sandboxes: sandboxes.sandboxes }),
    ...(application.gatewayMoves === undefined ? {} : { gatewayMoves: application.gatewayMoves }),
  });
  const server = createHttpServer(app);
  const background = new BackgroundWork({
    passes: [
      { name: "expire", run: (signal) => container.get(tokens.expireAuthorizations).execute(signal) },
      { name: "reconcile", run: (signal) => container.get(tokens.reconcileOperations).execute(signal) },
    ],
    intervalMs: settings.passInterval.value * 1_000,
    sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
    onReport: (pass, report) => {
      if (report.done + report.failed > 0) logger.info({ pass, ...report }, "background pass");
    },
    onError: (pass, error) => {
      logger.error({ err: error, pass }, "a background pass failed; the next one tries again");
    },
  });

  const ended = new Promise<number>((resolve) => {
    const shutdown = new GracefulShutdown({
      server,
      lifecycle,
      logger,
      announceMs: settings.shutdownDelay.value * 1_000,
      closers: [
        { name: "background work", close: () => background.stop() },
        { name: "sandboxes", close: () => sandboxes?.close() },
        { name: "application", close: () => application.close() },
      ],
      exit: resolve,
    });
    for (const signal of SIGNALS) process.on(signal, () => void shutdown.onSignal(signal));
  });
  lifecycle.onDrain(() => void background.stop());
  await listen(server, settings.host.value, settings.port.value).catch(async (error: unknown) => {
    await sandboxes?.close();
    await application.close();
    throw cannotListen(error, configuration);
  });
  if (settings.passInterval.value > 0 && refusal === null) background.start();
  sandboxes?.tend();

  say(`listening on ${listeningUrl(settings.host.value, server)}`);
  say(
    `store ${withoutPassword(settings.store.text ?? "")}, locks ${locksInWords(configuration, application)}`,
  );
  for (const lost of application.lostLogs) say(`warning: ${lostLogInWords(lost)}`);
  if (settings.acceptLostLog.value && application.lostLogs.length === 0) {
    say(
      `warning: ${settings.acceptLostLog.source} was not needed: remove it, or the next loss is accepted unseen`,
    );
  }
  const alone = aloneOnSharedStore(settings.store.value, application.locks);
  if (alone !== null) say(alone);
  if (typeof sandboxes?.warning === "string") say(sandboxes.warning);
  const limit = lockTimeouts.scopes.payment;
  if (limit.value !== "infinite" && limit.value < longestHoldMs) {
    say(
      `warning: a payment's lock is waited for ${inWords(limit.value)} s (${limit.source}), ` +
        `less than the ${longestHoldMs / 1_000} s that a healthy holder may take`,
    );
  }
  const status = await ended;
  if (status !== 0) process.exit(status);
  // What could not be closed in time must not keep the process.
  setTimeout(() => process.exit(), LEFTOVERS_MS).unref();
}

/** Callers of a store that has forgotten what it told them would move their money again. */
function refusalToMove({ lostLogs }: Application): StoreUnavailableError | null {
  const lost = lostLogs.find(({ isAccepted }) => !isAccepted);
  return lost === undefined ? null : new StoreUnavailableError(lostLogInWords(lost), { reason: "log_lost" });
}

function listeningUrl(host: string, server: Server): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Where others reach this instance: as it is told, else where it listens, under a name that means something elsewhere. */
function advertisedUrl({ settings }: Configuration, server: Server): string {
  const host = settings.host.value;
  const isWildcard = host === "0.0.0.0" || host === "::";
  return settings.advertise.value ?? listeningUrl(isWildcard ? hostname() : host, server);
}

/** Right for one instance; a second one would be noticed by its callers, and this line tells them why. */
function aloneOnSharedStore(store: StoreSetting, locks: LocksBackendSetting): string | null {
  if (store.kind !== "postgres" || (locks.kind !== "memory" && locks.kind !== "file")) return null;
  return (
    `warning: locks ${locks.kind}: keep apart ${locks.kind === "memory" ? "this process's" : "this host's"} callers ` +
    "alone, but other instances may use this database. The store's versions and constraints and the gateway's keys " +
    "still move money once; callers of two instances may be told 409 payment_busy or capture_in_progress, or 202, " +
    "where they would have waited. Set --locks postgres: unless there is only one instance"
  );
}

/** Without a key everybody is an operator, so nobody from outside may reach it. */
async function refuseOpenDoor({ settings }: Configuration, { container }: Application): Promise<void> {
  const refusal = refusalToListen(settings.host.value, await container.get(tokens.apiKeys).anyEverCreated());
  if (refusal === null) return;
  const { source, kind } = settings.host;
  // The value is right, what it needs is missing: never a usage error.
  throw new ConfigurationError([{ source, kind: kind === "flag" ? "environment" : kind, message: refusal }]);
}

/** As the store, which would not have been opened: a server that can lock nothing refuses every movement of money. */
async function refuseSilentLocks(configuration: Configuration, application: Application): Promise<void> {
  try {
    await application.lockProbe?.();
  } catch (error) {
    const message = `the locks ${locksInWords(configuration, application)} cannot be used: ${(error as Error).message}`;
    throw Object.assign(new Error(message, { cause: error }), { code: "service_unavailable" });
  }
}

function locksInWords({ settings }: Configuration, { locks }: Application): string {
  return withoutPassword(settings.locks.text ?? locks.kind);
}

function listen(server: ReturnType<typeof createHttpServer>, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

function cannotListen(error: unknown, { settings }: Configuration): Error {
  const { code } = error as NodeJS.ErrnoException;
  const why = code === "EADDRINUSE" ? "something else listens there" : (code ?? String(error));
  const message = `cannot listen on ${settings.host.value}:${settings.port.value}: ${why}; choose another with --port`;
  return Object.assign(new Error(message, { cause: error }), { code: "service_unavailable" });
}
