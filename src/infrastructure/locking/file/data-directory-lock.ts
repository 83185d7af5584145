import { realpath } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { LockTimeoutError } from "../../../application/ports/lock-errors";
import type { LockHolder } from "../../../application/ports/lock-provider";
import type { Tenure } from "../lock-backend";
import { FileLockBackend } from "./file-lock-backend";
import { orUnavailable } from "./file-lock-errors";
import { makeDirectory } from "./make-directory";

/** Beside what it protects. */
const DIRECTORY = ".holdfast-lock";

const SHARE_INSTEAD =
  "end that process first, or keep the payments in PostgreSQL (--store postgres://…), which several can share";

/**
 * One process at a time has a directory's data: a SQLite file whose payments are locked in memory, or snapshots. Taken
 * before the data is opened, released after it is closed. Two names of one file (links) are one lock.
 */
export class DataDirectoryLock {
  private constructor(
    private readonly backend: FileLockBackend,
    private readonly tenure: Tenure,
  ) {}

  /**
   * `data`: the database file or the directory itself, which need not exist yet. `purpose`: what others are told, e.g.
   * `serve`. Rejects with `LockTimeoutError`, which names the process that has it, or `LockUnavailableError`.
   */
  static async acquire(data: string, purpose: string, advice = SHARE_INSTEAD): Promise<DataDirectoryLock> {
    const path = await orUnavailable(data, () => trueName(data));
    const resourceId = `data:${basename(path)}`;
    const backend = new FileLockBackend({ directory: join(dirname(path), DIRECTORY) });
    const attempt = await backend.attempt(resourceId, { purpose, mayWait: false });
    if (attempt.kind === "acquired") return new DataDirectoryLock(backend, attempt.tenure);
    await backend.close();
    const limit = { timeout: 0, source: "the rule that one process at a time opens this data" };
    const { holder } = attempt;
    throw new LockTimeoutError(path, 0, limit, holder, advice + orBreak(resourceId, dirname(path), holder));
  }

  /** Throws `LockLostError` if somebody has removed the lock's file. */
  assertHeld(): void {
    this.tenure.assertHeld();
  }

  async release(): Promise<void> {
    await this.tenure.release();
    await this.backend.close();
  }
}

/** On another host, or in a container that is no more, nobody here can tell whether it lives. */
function orBreak(resourceId: string, directory: string, holder: LockHolder | undefined): string {
  if (holder?.host === undefined || holder.host === hostname()) return "";
  const command = `holdfast locks break ${resourceId} --if-held-by ${holder.ownerId} --locks file:${join(directory, DIRECTORY)}`;
  return `; if ${holder.host} is gone for certain: ${command}`;
}

/** The directory is made if it is missing, because the lock lies in it; links are resolved, because they share the data. */
async function trueName(data: string): Promise<string> {
  const path = resolve(data);
  try {
    return await realpath(path);
  } catch {
    // Not there yet: its directory has to be.
  }
  await makeDirectory(dirname(path));
  return join(await realpath(dirname(path)), basename(path));
}
