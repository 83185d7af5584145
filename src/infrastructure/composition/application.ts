import { Container } from "inversify";
import { assertBudgets } from "../../application/operations/budgets";
import type { LockObserver } from "../../application/ports/lock-observer";
import type { LocksSetting } from "../configuration/adapter-urls";
import { defaultLocks, type Configuration } from "../configuration/configuration";
import { policyOf } from "../configuration/lock-timeouts";
import { SystemClock } from "../time/system-clock";
import { Closers } from "./closers";
import { gatewayModule, openGateway, type OpenGateway } from "./gateway-module";
import { locksModule } from "./locks-module";
import { makeLogger } from "./logger";
import { operationsModule } from "./operations-module";
import { openStore, storeModule } from "./store-module";
import { tokens } from "./tokens";

/** The program, put together and opened. */
export interface Application {
  readonly container: Container;
  readonly locks: LocksSetting;
  readonly gatewayMoves: OpenGateway["moves"];
  close(): Promise<void>;
}

/** Where the two ends meet. Everything is made once: a second lock provider would lock nothing. */
export async function openApplication(
  configuration: Configuration,
  lockObserver?: LockObserver,
): Promise<Application> {
  assertBudgets();
  const { settings, lockTimeouts } = configuration;
  const locks = settings.locks.value ?? defaultLocks(configuration);
  const clock = new SystemClock();
  const closers = new Closers();
  try {
    const store = await openStore(settings.store.value, clock, closers);
    await store.migration.migrate();
    const gateway = await openGateway(settings.gateway.value, clock, store.openGatewayLedger);
    const container = new Container({ defaultScope: "Singleton" });
    container.bind(tokens.clock).toConstantValue(clock);
    container.bind(tokens.logger).toConstantValue(makeLogger(settings.logLevel.value));
    container.bind(tokens.lockTimeouts).toConstantValue(policyOf(lockTimeouts));
    container.load(
      storeModule(store),
      gatewayModule(gateway),
      locksModule(locks, lockObserver),
      operationsModule(),
    );
    return { container, locks, gatewayMoves: gateway.moves, close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}
