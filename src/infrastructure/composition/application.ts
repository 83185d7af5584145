import "reflect-metadata";
import { Container } from "inversify";
import { assertBudgets } from "../../application/operations/budgets";
import type { LockObserver } from "../../application/ports/lock-observer";
import type { LockQueues } from "../../application/ports/lock-queues";
import type { LocksBackendSetting } from "../configuration/adapter-urls";
import { defaultLocks, locksBackend, type Configuration } from "../configuration/configuration";
import { policyOf } from "../configuration/lock-timeouts";
import { assertLogIsWhole, type LostLog } from "../persistence/sqlite-commit-mark";
import { SystemClock } from "../time/system-clock";
import { Closers } from "./closers";
import { takeDataDirectory } from "./data-directory";
import { gatewayModule, openGateway, type OpenGateway } from "./gateway-module";
import { locksModule } from "./locks-module";
import { openLocks, unusable, type OpenLocks } from "./open-locks";
import { operationsModule } from "./operations-module";
import { openStore, type OpenStore } from "./open-store";
import { storeModule } from "./store-module";
import { openTelemetry } from "./telemetry-module";
import { tokens } from "./tokens";

export interface OpenOptions {
  /** What others are told when this process has the data directory: `serve`, `reconcile`, … */
  readonly purpose: string;
  /** `keys` neither moves money nor needs the data for itself. */
  readonly sharesData?: boolean;
  /** Told of a wait for data that another process has; whoever brings none does not wait. */
  readonly observer?: LockObserver;
}

/** The program, put together and opened. */
export interface Application {
  readonly container: Container;
  readonly locks: LocksBackendSetting;
  readonly lockProbe: OpenLocks["probe"];
  readonly lockQueues: LockQueues;
  readonly storeConnections: OpenStore["connections"];
  readonly lostLogs: readonly LostLog[];
  readonly gatewayMoves: OpenGateway["moves"];
  readonly gatewayProbe: OpenGateway["probe"];
  close(): Promise<void>;
}

/** Without locks there are no lines. */
const nobodyInLine: LockQueues = { queues: () => [] };

/** Where the two ends meet. Everything is made once: a second lock provider would lock nothing. */
export async function openApplication(
  configuration: Configuration,
  { purpose, sharesData = false, observer }: OpenOptions,
): Promise<Application> {
  assertBudgets();
  const { settings, lockTimeouts } = configuration;
  const setting = locksBackend(configuration, settings.locks.value ?? defaultLocks(configuration));
  const timeouts = policyOf(lockTimeouts);
  const clock = new SystemClock();
  const closers = new Closers();
  try {
    if (!sharesData) await takeDataDirectory(configuration, setting, purpose, closers, observer);
    const store = await openStore(settings.store.value, clock, closers, {
      maxConnections: settings.storeConnections.value,
      acceptLostLog: settings.acceptLostLog.value,
    });
    // A file that has lost its log is left as it is: the log may be found and put back.
    if (store.lostLogs().every(({ isAccepted }) => isAccepted)) await store.migration.migrate();
    const gateway = await openGateway(settings, clock, store.openGatewayLedger, closers);
    // A server shows what is there and moves nothing; a command has nothing to show.
    if (purpose !== "serve") for (const lost of store.lostLogs()) assertLogIsWhole(lost);
    const telemetry = openTelemetry(settings.logLevel.value);
    const locks = openLocks(setting, { timeouts, observer: telemetry.lockObserver }, closers);
    // A bucket is there for good or not at all: a server without one would only refuse, one request after the other.
    if (setting.kind === "gcs") await locks.probe?.().catch(unusable);
    const container = new Container({ defaultScope: "Singleton" });
    container.bind(tokens.clock).toConstantValue(clock);
    container.bind(tokens.lockTimeouts).toConstantValue(timeouts);
    container.load(
      telemetry.module,
      storeModule(store),
      gatewayModule(gateway),
      locksModule(locks),
      operationsModule(),
    );
    return {
      container,
      locks: setting,
      lockProbe: locks.probe,
      lockQueues: locks.queues ?? nobodyInLine,
      storeConnections: store.connections,
      lostLogs: store.lostLogs(),
      gatewayMoves: gateway.moves,
      gatewayProbe: gateway.probe,
      close: () => closers.close(),
    };
  } catch (error) {
    await closers.close();
    throw error;
  }
}
