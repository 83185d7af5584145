import { realpathSync } from "node:fs";
import type { LocksSetting } from "../configuration/adapter-urls";
import type { Configuration } from "../configuration/configuration";
import { policyOf } from "../configuration/lock-timeouts";
import { setTimeout as delay } from "node:timers/promises";
import { LockTimeoutError } from "../../application/ports/lock-errors";
import { atOnce, DataDirectoryLock } from "../locking/file/data-directory-lock";
import { FileIdentityLock } from "../locking/file/file-identity-lock";
import { makeWritableFile } from "../persistence/sqlite-file";
import type { LockObserver } from "../../application/ports/lock-observer";
import type { ResolvedLockTimeout } from "../../application/ports/lock-timeout";
import type { Closers } from "./closers";
import { gatewayFileBeside } from "./open-store";

/** How often a file is looked at that another process has under another name: it has no words for when it is free. */
const LOOK_EVERY_MS = 100;

/** Locks in memory keep nobody out of files that two processes have open: then one process has them for itself. */
export async function takeDataDirectory(
  {
    settings: {
      store: { value: store },
      gateway,
    },
    lockTimeouts,
  }: Configuration,
  locks: LocksSetting,
  purpose: string,
  closers: Closers,
  observer?: LockObserver,
): Promise<void> {
  if (store.kind !== "sqlite" || (locks.kind !== "memory" && locks.kind !== "none")) return;
  // A command that wants the data for itself is a task, and waits as long as one.
  const patience = observer === undefined ? atOnce : { limit: policyOf(lockTimeouts)("task"), observer };
  const sinceMs = performance.now();
  const held = await DataDirectoryLock.acquire(store.file, purpose, undefined, patience);
  closers.add(() => held.release());
  const files = [store.file, ...(gateway.value === "simulated" ? [gatewayFileBeside(store.file)] : [])];
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
