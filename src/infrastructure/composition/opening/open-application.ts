import { Container } from "inversify";
import { assertBudgets } from "../../../application/time-budgets";
import type { LockObserver } from "../../../application/ports/lock-observer";
import { defaultLocks, locksBackend, type Configuration } from "../../configuration/configuration";
import { kindOf } from "../../configuration/lock-catalogue";
import { policyOf } from "../../configuration/lock-timeouts";
import { assertLogIsWhole } from "../../persistence/sqlite/sqlite-commit-mark";
import { SystemClock } from "../../time/system-clock";
import { gatewayModule } from "../container/gateway-module";
import { locksModule } from "../container/locks-module";
import { programModule } from "../container/program-module";
import { storeModule } from "../container/store-module";
import { telemetryModule } from "../container/telemetry-module";
import { useCasesModule } from "../container/use-cases-module";
import { Closers } from "./closers";
import { takeDataDirectory } from "./data-directory";
import { openGateway } from "./open-gateway";
import { openStore } from "./open-store";
import { openTelemetry } from "./open-telemetry";
import { unusable } from "./unusable";

export interface OpenOptions {
  /** What other processes read about the one that has the data directory: `serve`, `reconcile`, … */
  readonly purpose: string;
  /** `keys` neither moves money nor needs the data for itself. */
  readonly sharesData?: boolean;
  /** Notified of a wait for data that another process has. Without an observer there is no wait. */
  readonly observer?: LockObserver | undefined;
}

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
    const gateway = await openGateway(configuration, clock, store.openGatewayLedger, closers);
    // A server shows what is there and moves nothing; a command has nothing to show.
    if (purpose !== "serve") for (const lost of store.lostLogs()) assertLogIsWhole(lost);
    const telemetry = openTelemetry(settings.logLevel.value);
    const locks = kindOf(lockSetting)
      .load()
      .open(lockSetting, { timeouts, observer: telemetry.lockObserver });
    closers.add(locks.close);
    // A server without such a place would only refuse, one request after the other.
    if (locks.isThereFromTheStart) await locks.probe?.().catch(unusable);
    const container = new Container({ defaultScope: "Singleton" });
    container.load(
      programModule(configuration, clock, closers),
      telemetryModule(telemetry),
      locksModule(lockSetting, timeouts, locks),
      storeModule(store),
      gatewayModule(gateway),
      useCasesModule(),
    );
    return { container, close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}
