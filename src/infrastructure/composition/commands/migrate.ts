import type { LockObserver } from "../../../application/ports/lock-observer";
import type { MigrationReport } from "../../../application/ports/store-migration";
import { defaultLocks, type Configuration } from "../../configuration/configuration";
import { SystemClock } from "../../time/system-clock";
import { Closers } from "../opening/closers";
import { takeDataDirectory } from "../opening/data-directory";
import { assertStoreExists, openStore } from "../opening/open-store";

/** Opens the store for nothing but its schema. */
export async function migrate(
  configuration: Configuration,
  observer: LockObserver,
): Promise<MigrationReport> {
  const { settings } = configuration;
  assertStoreExists(settings.store);
  const closers = new Closers();
  try {
    const setting = settings.locks.value ?? defaultLocks(configuration);
    await takeDataDirectory(configuration, setting, "migrate", closers, observer);
    const { migration } = await openStore(settings.store.value, new SystemClock(), closers, {
      maxConnections: 1,
      acceptLostLog: settings.acceptLostLog.value,
    });
    return await migration.migrate();
  } finally {
    await closers.close();
  }
}
