import type { LocksSetting, StoreSetting } from "../configuration/adapter-urls";
import { DataDirectoryLock } from "../locking/file/data-directory-lock";
import type { Closers } from "./closers";

/** Locks in memory keep nobody out of a file that two processes have open: then one process has it for itself. */
export async function takeDataDirectory(
  store: StoreSetting,
  locks: LocksSetting,
  purpose: string,
  closers: Closers,
): Promise<void> {
  if (store.kind !== "sqlite" || (locks.kind !== "memory" && locks.kind !== "none")) return;
  const held = await DataDirectoryLock.acquire(store.file, purpose);
  closers.add(() => held.release());
}
