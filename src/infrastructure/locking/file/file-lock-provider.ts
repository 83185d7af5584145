// Excludes: processes on this host that lock in the same directory.
// Survives: any process killed at any instant; a stopped one keeps its locks, and a living command those of its wrapper.
// Not for: several hosts, not even on a shared filesystem; `flock(1)`, which such a lock neither sees nor stops.
import type { LockHold, LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import type { LockQueue, LockQueues } from "../../../application/ports/lock-queues";
import { LinedLockProvider } from "../line/lined-lock-provider";
import type { LockProviderSettings } from "../lock-settings";
import type { FileLockMode } from "./directory/lock-directory";
import { FileLockBackend } from "./file-lock-backend";
import type { FileTenure } from "./file-tenure";

export interface FileLockOptions extends LockProviderSettings {
  /** Default `auto`: kernel locks where platform and filesystem have them, unless the directory is bound already. */
  readonly mode?: FileLockMode | "auto";
}

/** As it was given before there was one shape for all providers. */
export interface FileLockPlace {
  readonly directory: string;
  readonly mode?: FileLockMode | "auto";
}

export class FileLockProvider implements LockProvider, LockQueues {
  private readonly backend: FileLockBackend;
  private readonly lined: LinedLockProvider;

  /** `directory` is made if it is missing, for its owner alone; nothing is touched before the first lock. */
  constructor(directory: string, options?: FileLockOptions);
  /** @deprecated Give the directory as text, and one object of options. */
  constructor(where: FileLockPlace, options?: FileLockOptions);
  constructor(where: string | FileLockPlace, options: FileLockOptions = {}) {
    const { mode, clock, ...place } = {
      ...options,
      ...(typeof where === "string" ? { directory: where } : where),
    };
    this.backend = new FileLockBackend({
      directory: place.directory,
      ...(mode === undefined ? {} : { mode }),
      ...(clock === undefined ? {} : { nowMs: clock.wallMs.bind(clock) }),
    });
    this.lined = new LinedLockProvider(this.backend, options);
  }

  withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => T | PromiseLike<T>,
    options?: LockOptions,
  ): Promise<T> {
    return this.lined.withLock(resourceId, criticalSection, options);
  }

  /**
   * For a section that starts a command: its tenure has the descriptor that the command should inherit, and takes note
   * of the command's number. Undefined while this process is not inside.
   */
  tenureOf(resourceId: string): FileTenure | undefined {
    return this.backend.tenureOf(resourceId);
  }

  lockFile(resourceId: string): string {
    return this.backend.lockFile(resourceId);
  }

  /** How many ids are locked, wanted, or being given back. */
  get size(): number {
    return this.lined.size;
  }

  queues(): readonly LockQueue[] {
    return this.lined.queues();
  }

  close(): Promise<void> {
    return this.lined.close();
  }
}
