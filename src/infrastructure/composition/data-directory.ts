import { realpathSync } from "node:fs";
import type { LocksSetting } from "../configuration/adapter-urls";
import type { EffectiveSettings } from "../configuration/configuration";
import { DataDirectoryLock } from "../locking/file/data-directory-lock";
import { FileIdentityLock } from "../locking/file/file-identity-lock";
import { makeWritableFile } from "../persistence/sqlite-file";
import type { Closers } from "./closers";
import { gatewayFileBeside } from "./open-store";

/** Locks in memory keep nobody out of files that two processes have open: then one process has them for itself. */
export async function takeDataDirectory(
  { store: { value: store }, gateway }: EffectiveSettings,
  locks: LocksSetting,
  purpose: string,
  closers: Closers,
): Promise<void> {
  if (store.kind !== "sqlite" || (locks.kind !== "memory" && locks.kind !== "none")) return;
  const held = await DataDirectoryLock.acquire(store.file, purpose);
  closers.add(() => held.release());
  takeFile(store.file, closers);
  if (gateway.value === "simulated") takeFile(gatewayFileBeside(store.file), closers);
}

function takeFile(file: string, closers: Closers): void {
  makeWritableFile(file);
  const held = FileIdentityLock.acquire(realpathSync(file));
  if (held !== null) closers.add(() => held.release());
}
