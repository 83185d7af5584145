// Excludes: processes on this host that lock in the same directory.
// Survives: any process killed at any instant; a stopped one keeps its locks, and a living command those of its wrapper.
// Not for: several hosts, not even on a shared filesystem; `flock(1)`, which such a lock neither sees nor stops.
import type { LockHold, LockOptions, LockProvider } from "../../../application/ports/lock-provider";
import type { LockQueue, LockQueues } from "../../../application/ports/lock-queues";
import { LinedLockProvider } from "../lined-lock-provider";
import type { LockProviderSettings } from "../lock-settings";
import { FileLockBackend, type FileLockOptions } from "./file-lock-backend";
import type { FileTenure } from "./file-tenure";

export class FileLockProvider implements LockProvider, LockQueues {
  private readonly backend: FileLockBackend;
  private readonly lined: LinedLockProvider;

  constructor(options: FileLockOptions, settings: LockProviderSettings = {}) {
    const nowMs = settings.clock === undefined ? {} : { nowMs: settings.clock.wallMs.bind(settings.clock) };
    this.backend = new FileLockBackend({ ...nowMs, ...options });
    this.lined = new LinedLockProvider(this.backend, settings);
  }

  withLock<T>(
    resourceId: string,
    criticalSection: (hold: LockHold) => Promise<T>,
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
