import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { BreakAudit, LockInspector } from "../../application/ports/lock-inspector";
import type { LocksBackendSetting } from "../configuration/adapter-urls";
import {
  ConfigurationError,
  defaultTaskLockDirectory,
  type Configuration,
} from "../configuration/configuration";
import { FileLockInspector } from "../locking/file/file-lock-inspector";
import { GcsLeaseLockProvider } from "../locking/lease/gcs-lease-lock-provider";
import { PermanentLeaseStoreError, TransientLeaseStoreError } from "../locking/lease/lease-record-store";
import { LeaseLockInspector } from "../locking/lease/lease-lock-inspector";
import { RedisLeaseRecordStore } from "../locking/lease/redis-lease-record-store";
import { Closers } from "./closers";
import { unusable } from "./open-locks";
import { taskLocksSetting } from "./task-locks";

/** Lends the inspector of the locks that `run` would use, or of those that are configured. */
export async function withLockInspector<T>(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
  work: (inspector: LockInspector) => Promise<T>,
): Promise<T> {
  const setting = taskLocksSetting(configuration, environment);
  const closers = new Closers();
  try {
    return await work(await openInspector(setting, configuration, environment, closers)).catch(unreachable);
  } finally {
    await closers.close();
  }
}

/** A store that does not answer is no defect of ours. */
function unreachable(error: unknown): never {
  if (error instanceof TransientLeaseStoreError || error instanceof PermanentLeaseStoreError) unusable(error);
  throw error;
}

async function openInspector(
  setting: LocksBackendSetting,
  { settings }: Configuration,
  environment: NodeJS.ProcessEnv,
  closers: Closers,
): Promise<LockInspector> {
  switch (setting.kind) {
    case "file":
      return new FileLockInspector(setting.directory);
    case "gcs": {
      const location = `gs://${setting.bucket}/${setting.prefix}`;
      const provider = await GcsLeaseLockProvider.open(location).catch(unusable);
      closers.add(() => provider.close());
      return new LeaseLockInspector({
        records: provider.records,
        where: (resourceId) => `${location} ${resourceId}`,
        now: () => new Date(),
        audit: (line) => writeAudit(environment, line),
      });
    }
    case "postgres": {
      // Loaded here and not above: it brings the query builder along.
      const { PostgresLockInspector } = await import("../locking/postgres/postgres-lock-inspector.js");
      const inspector = new PostgresLockInspector(setting.url);
      closers.add(() => inspector.close());
      return inspector;
    }
    case "redis": {
      const records = new RedisLeaseRecordStore({ url: setting.url });
      closers.add(() => records.close());
      return new LeaseLockInspector({
        records,
        where: (resourceId) => records.key(resourceId),
        now: () => new Date(),
        audit: (line) => writeAudit(environment, line),
      });
    }
    default:
      throw new ConfigurationError([
        {
          source: settings.locks.source,
          kind: "flag",
          message: `is ${setting.kind}:, which cannot be looked at from outside`,
        },
      ]);
  }
}

/** Beside the locks of tasks, on the machine of whoever broke the lock. */
async function writeAudit(environment: NodeJS.ProcessEnv, line: BreakAudit): Promise<void> {
  const directory = defaultTaskLockDirectory(environment);
  if (directory === null) {
    const message = "tell no directory for the audit line: set one of them";
    throw new ConfigurationError([{ source: "XDG_STATE_HOME and HOME", kind: "environment", message }]);
  }
  const file = join(dirname(directory), "audit.log");
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  await appendFile(file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
}
