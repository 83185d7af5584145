import { appendFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { LockInspector } from "../../../application/ports/lock-inspector";
import {
  ConfigurationError,
  defaultTaskLockDirectory,
  type Configuration,
} from "../../configuration/configuration";
import { kindOf, type LockSetting } from "../../configuration/lock-catalogue";
import {
  PermanentLeaseStoreError,
  TransientLeaseStoreError,
} from "../../locking/lease/protocol/lease-record-store";
import type { Audit, OpenInspector } from "../../locking/lock-kind";
import { unusable } from "../opening/unusable";
import { taskLocksSetting } from "./task-locks-setting";

/** Lends the inspector of the locks that `run` would use, or of those that are configured. */
export async function withLockInspector<T>(
  configuration: Configuration,
  environment: NodeJS.ProcessEnv,
  work: (inspector: LockInspector) => Promise<T>,
): Promise<T> {
  const setting = taskLocksSetting(configuration, environment);
  const { inspector, close } = await openInspector(setting, configuration, auditIn(environment));
  try {
    return await work(inspector).catch(unreachable);
  } finally {
    await close?.();
  }
}

/** A store that does not answer is no defect of ours. */
function unreachable(error: unknown): never {
  if (error instanceof TransientLeaseStoreError || error instanceof PermanentLeaseStoreError) unusable(error);
  throw error;
}

async function openInspector(
  setting: LockSetting,
  { settings }: Configuration,
  audit: Audit,
): Promise<OpenInspector> {
  const kind = kindOf(setting);
  if (kind.reach === "host" || kind.reach === "network")
    return kind.load().inspect(setting, audit).catch(unusable);
  const message = `is ${setting.kind}:, which cannot be inspected from another process`;
  throw new ConfigurationError([{ source: settings.locks.source, kind: "flag", message }]);
}

/** Beside the locks of tasks, on the machine where the lock is broken. */
const auditIn =
  (environment: NodeJS.ProcessEnv): Audit =>
  async (line) => {
    const directory = defaultTaskLockDirectory(environment);
    if (directory === null) {
      const message = "give no directory for the audit line: set one of them";
      throw new ConfigurationError([{ source: "XDG_STATE_HOME and HOME", kind: "environment", message }]);
    }
    const file = join(dirname(directory), "audit.log");
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    await appendFile(file, `${JSON.stringify(line)}\n`, { mode: 0o600, flush: true });
  };
