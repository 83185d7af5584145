import { realpathSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { LockTimeoutError } from "../../../application/ports/lock-errors";
import type { LockObserver } from "../../../application/ports/lock-observer";
import type { ResolvedLockTimeout } from "../../../application/ports/lock-timeout";
import type { LocksSetting } from "../../configuration/adapter-urls";
import type { Configuration } from "../../configuration/configuration";
import { isForProcesses, kindOf } from "../../configuration/lock-catalogue";
import { policyOf } from "../../configuration/lock-timeouts";
import { atOnce, DataDirectoryLock } from "../../locking/file/data-directory-lock";
import { FileIdentityLock } from "../../locking/file/kernel/file-identity-lock";
import { makeWritableFile } from "../../persistence/sqlite/sqlite-file";
import type { Closers } from "./closers";
import { gatewayFileBeside } from "./open-store";

/** A file that another process has under another name cannot be waited for, only looked at again. */
const LOOK_EVERY_MS = 100;

/** Locks of one process keep no other out of files that both have open: then one process has them for itself. */
export async function takeDataDirectory(
  { settings, lockTimeouts }: Configuration,
  locks: LocksSetting,
  purpose: string,
  closers: Closers,
  observer?: LockObserver,
): Promise<void> {
  const { store, gateway } = settings;
  if (store.value.kind !== "sqlite") return;
  if (locks.kind === "store" || isForProcesses(kindOf(locks).reach)) return;
  const { file: database } = store.value;
  // A command that wants the data for itself is a task, and waits as long as one.
  const patience = observer === undefined ? atOnce : { limit: policyOf(lockTimeouts)("task"), observer };
  const sinceMs = performance.now();
  const held = await DataDirectoryLock.acquire(database, purpose, undefined, patience);
  closers.add(() => held.release());
  const files = [database, ...(gateway.value.kind === "simulated" ? [gatewayFileBeside(database)] : [])];
  for (const file of files) {
    makeWritableFile(file);
    const taken = await takeFile(realpathSync(file), patience.limit, sinceMs);
    if (taken !== null) closers.add(() => taken.release());
  }
}

async function takeFile(file: string, limit: ResolvedLockTimeout, sinceMs: number) {
  for (;;) {
    try {
      return FileIdentityLock.acquire(file);
    } catch (error) {
      if (!(error instanceof LockTimeoutError)) throw error;
      const waitedMs = Math.round(performance.now() - sinceMs);
      if (limit.timeout !== "infinite" && waitedMs >= limit.timeout)
        throw new LockTimeoutError(file, waitedMs, limit, undefined, error.advice, "task");
    }
    await delay(LOOK_EVERY_MS);
  }
}
