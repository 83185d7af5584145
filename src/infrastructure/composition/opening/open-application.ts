import { Container } from "inversify";
import { SealedAccounts } from "../../../application/accounts/sealed-accounts";
import { assertBudgets } from "../../../application/time-budgets";
import type { LockObserver } from "../../../application/ports/lock-observer";
import { defaultLocks, locksBackend, type Configuration } from "../../configuration/configuration";
import { kindOf } from "../../configuration/lock-catalogue";
import { policyOf } from "../../configuration/lock-timeouts";
import { assertLogIsWhole } from "../../persistence/sqlite/sqlite-commit-mark";
import { LoggedAccountSecrets } from "../../telemetry/account-log";
import { gatewayMetrics } from "../../telemetry/gateway-metrics";
import { watchedGateway } from "../../telemetry/watched-gateway";
import { SystemClock } from "../../time/system-clock";
import { gatewayModule } from "../container/gateway-module";
import { locksModule } from "../container/locks-module";
import { programModule } from "../container/program-module";
import { storeModule } from "../container/store-module";
import { telemetryModule } from "../container/telemetry-module";
import { useCasesModule } from "../container/use-cases-module";
import { Closers } from "./closers";
import { takeDataDirectory } from "./data-directory";
import { keysOfAccounts, openGateway } from "./open-gateway";
import { openSecrets } from "./open-secrets";
import { openStore } from "./open-store";
import { openTracing } from "./open-tracing";
import { openTelemetry, type OpenTelemetry } from "./open-telemetry";
import { unusable } from "./unusable";

export interface OpenOptions {
  /** What other processes read about the one that has the data directory: `serve`, `reconcile`, … */
  readonly purpose: string;
  /** `keys` neither moves money nor needs the data for itself. */
  readonly sharesData?: boolean;
  /** Notified of a wait for data that another process has. Without an observer there is no wait. */
  readonly observer?: LockObserver | undefined;
}

/** What moves money, and so takes long enough to be looked at. */
const TRACED: ReadonlySet<string> = new Set(["serve", "reconcile", "expire"]);

/** The program, opened: what its container makes stands on what is open until it is closed. */
export interface Application {
  readonly container: Container;
  readonly close: () => Promise<void>;
}

/**
 * Opens, in order, what can fail or has to be closed again; the container makes everything else of it. Everything exists
 * once: a second lock provider would lock nothing.
 */
export async function openApplication(
  configuration: Configuration,
  { purpose, sharesData = false, observer }: OpenOptions,
): Promise<Application> {
  assertBudgets();
  const { settings, lockTimeouts } = configuration;
  const lockSetting = locksBackend(configuration, settings.locks.value ?? defaultLocks(configuration));
  const timeouts = policyOf(lockTimeouts);
  const clock = new SystemClock();
  const closers = new Closers();
  try {
    if (!sharesData) await takeDataDirectory(configuration, lockSetting, purpose, closers, observer);
    const store = await openStore(settings.store.value, clock, closers, {
      maxConnections: settings.storeConnections.value,
      acceptLostLog: settings.acceptLostLog.value,
    });
    // A file that has lost its log is left as it is: the log may be found and put back.
    if (store.lostLogs().every(({ isAccepted }) => isAccepted)) await store.migration.migrate();
    const secrets = openSecrets(settings, store, clock);
    let telemetry: OpenTelemetry | undefined = undefined;
    const { trace } = settings;
    const tracing =
      trace.value === null || !TRACED.has(purpose)
        ? undefined
        : await openTracing(trace.value, store, settings.store.value.kind, (message) =>
            telemetry?.logger.warn({ event: "traces_not_exported" }, message),
          );
    closers.add(tracing?.close);
    telemetry = openTelemetry(settings.logLevel.value, tracing);
    const accounts = new SealedAccounts(store.merchantAccounts, secrets.box);
    const gateway = await openGateway(configuration, {
      clock,
      openLedger: store.openGatewayLedger,
      accounts: new LoggedAccountSecrets(accounts, telemetry.logger),
      closers,
    });
    const counted = watchedGateway(gateway.gateway, gatewayMetrics(telemetry.metrics));
    const watched = tracing === undefined ? counted : watchedGateway(counted, tracing.gateway);
    // A server shows what is there and moves nothing; a command has nothing to show.
    if (purpose !== "serve") for (const lost of store.lostLogs()) assertLogIsWhole(lost);
    const locks = kindOf(lockSetting)
      .load()
      .open(lockSetting, { timeouts, observer: telemetry.lockObserver });
    closers.add(locks.close);
    // A server without such a place would only refuse, one request after the other.
    if (locks.isThereFromTheStart) await locks.probe?.().catch(unusable);
    const container = new Container({ defaultScope: "Singleton" });
    container.load(
      programModule(configuration, clock, closers),
      telemetryModule(telemetry, tracing),
      locksModule(lockSetting, timeouts, locks),
      storeModule(store, secrets),
      gatewayModule({ ...gateway, gateway: watched }, keysOfAccounts(settings)),
      useCasesModule(),
    );
    return { container, close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}
