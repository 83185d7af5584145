import { realpath } from "node:fs/promises";
import { hostname } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { LockTimeoutError } from "../../../application/ports/lock-errors";
import type { LockHolder } from "../../../application/ports/lock-provider";
import type { LockObserver } from "../../../application/ports/lock-observer";
import type { ResolvedLockTimeout } from "../../../application/ports/lock-timeout";
import type { Tenure } from "../lock-backend";
import { lockSettings } from "../lock-settings";
import { Bid } from "../line/bid";
import { Line } from "../line/line";
import { Wait } from "../line/wait";
import { acquireTenure } from "../line/acquire-tenure";
import { FileLockBackend } from "./file-lock-backend";
import { orUnavailable } from "./file-lock-errors";
import { makeDirectory } from "./directory/make-directory";

/** Beside what it protects. */
const DIRECTORY = ".holdfast-lock";

const SHARE_INSTEAD =
  "end that process first, or keep the payments in PostgreSQL (--store postgres://…), which several can share";

/** How long a process waits for one that has the data, and who is told of it meanwhile. */
export interface Patience {
  readonly limit: ResolvedLockTimeout;
  readonly observer?: LockObserver;
}

/** A server does not wait for its data: whoever started a second one is told at once. */
export const atOnce: Patience = {
  limit: { timeout: 0, source: "the rule that one process at a time opens this data" },
};

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
  static async acquire(
    data: string,
    purpose: string,
    advice = SHARE_INSTEAD,
    { limit, observer }: Patience = atOnce,
  ): Promise<DataDirectoryLock> {
    const path = await orUnavailable(data, () => trueName(data));
    const backend = new FileLockBackend({ directory: join(dirname(path), DIRECTORY) });
    const resourceId = `data:${basename(path)}`;
    const bid = new Bid(backend, resourceId);
    const options = { scope: "task", purpose, timeout: limit, ...(observer && { observer }) } as const;
    const wait = new Wait(path, options, lockSettings(backend.adapter, {}));
    try {
      return new DataDirectoryLock(backend, await acquireTenure(wait, new Line(resourceId), bid));
    } catch (error) {
      await bid.withdraw();
      await backend.close();
      if (!(error instanceof LockTimeoutError)) throw error;
      const { waitedMs, holder, scope } = error;
      const ways = advice + orBreak(resourceId, dirname(path), holder);
      throw new LockTimeoutError(path, waitedMs, limit, holder, ways, scope);
    }
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
