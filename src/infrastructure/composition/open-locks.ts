import type { LockProvider } from "../../application/ports/lock-provider";
import type { LockQueues } from "../../application/ports/lock-queues";
import type { LocksBackendSetting } from "../configuration/adapter-urls";
import { FileLockProvider } from "../locking/file/file-lock-provider";
import { InMemoryLockProvider } from "../locking/in-memory-lock-provider";
import { GcsLeaseLockProvider } from "../locking/lease/gcs-lease-lock-provider";
import { RedisLeaseLockProvider } from "../locking/lease/redis-lease-lock-provider";
import type { LockProviderSettings } from "../locking/lock-settings";
import { NoOpLockProvider } from "../locking/no-op-lock-provider";
import { PostgresLockProvider } from "../locking/postgres/postgres-lock-provider";
import type { Closers } from "./closers";

/** A provider, with what only some of them have. */
export interface OpenLocks {
  readonly provider: LockProvider;
  /** Rejects when the backend does not answer; absent where there is none. */
  readonly probe?: () => Promise<void>;
  /** Who stands in line in this process; absent where nobody does. */
  readonly queues?: LockQueues;
  /** Set where a child of this process can keep a lock alive. */
  readonly file?: FileLockProvider;
}

/** The provider that a setting means. Its backend is asked for nothing yet. */
export function openLocks(
  setting: LocksBackendSetting,
  settings: LockProviderSettings,
  closers: Closers,
): OpenLocks {
  switch (setting.kind) {
    case "memory":
      return standingInLine(new InMemoryLockProvider(settings));
    case "none":
      return { provider: new NoOpLockProvider(settings) };
    case "file": {
      const { directory, mode } = setting;
      const provider = new FileLockProvider({ directory, ...(mode === undefined ? {} : { mode }) }, settings);
      closers.add(() => provider.close());
      return { ...standingInLine(provider), file: provider };
    }
    case "gcs": {
      const provider = new GcsLeaseLockProvider(setting, settings);
      closers.add(() => provider.close());
      return { ...standingInLine(provider), probe: () => provider.records.checkBucket() };
    }
    case "postgres": {
      const provider = new PostgresLockProvider(setting.url, {}, settings);
      closers.add(() => provider.close());
      return { ...standingInLine(provider), probe: () => provider.probe() };
    }
    case "redis": {
      const provider = new RedisLeaseLockProvider(setting.url, settings);
      closers.add(() => provider.close());
      return { ...standingInLine(provider), probe: () => provider.records.probe() };
    }
  }
}

function standingInLine(provider: LockProvider & LockQueues): OpenLocks {
  return { provider, queues: provider };
}

/** Nothing can be locked there, whoever configured it: told in the store's own words. */
export function unusable(error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw Object.assign(new Error(reason, { cause: error }), { code: "service_unavailable" });
}
