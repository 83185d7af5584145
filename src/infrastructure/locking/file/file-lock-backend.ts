import { join, resolve } from "node:path";
import type { Attempt, AttemptRequest, LockBackend, Semaphore } from "../lock-backend";
import { nonce } from "../nonce";
import { slotsOver } from "../slots/slot-search";
import { ExclusiveCreateMode } from "./exclusive-create/exclusive-create-mode";
import { drawFence } from "./on-disk/fence-file";
import { orUnavailable } from "./file-lock-errors";
import { FileTenure } from "./file-tenure";
import { KernelMode, type ModeAttempt } from "./kernel/kernel-mode";
import { loadKernelLocks, type KernelLocks } from "./kernel/kernel-locks";
import { openLockDirectory, type FileLockMode } from "./directory/lock-directory";
import { fenceFileName, lockFileName, permitsFileName } from "./on-disk/lock-file-name";
import { isMissing, NodeLockFiles, sweepAside, type LockFiles } from "./on-disk/lock-files";
import type { LockRecord } from "./on-disk/lock-record";
import { PermitsFiles } from "./on-disk/permits-file";
import { networkFilesystemOf } from "./directory/network-filesystem";
import { LocalProcesses, type Processes } from "./exclusive-create/process-identity";
import { ReleaseWatch } from "./release-watch";

export interface FileLockBackendOptions {
  /** Made if it is missing, readable by its owner alone. */
  readonly directory: string;
  /** `auto`: kernel locks where the filesystem and the platform have them, unless the directory is bound already. */
  readonly mode?: FileLockMode | "auto";
  readonly files?: LockFiles;
  readonly processes?: Processes;
  readonly loadKernelLocks?: () => KernelLocks;
  /** Default: as Linux tells. */
  readonly networkFilesystemOf?: (directory: string) => Promise<string | null>;
  /** Wall clock, for people and for fencing tokens. */
  readonly nowMs?: () => number;
}

/** How long `close` lets a release wait for a process that is stopped in the middle of replacing the file. */
const CLOSING_GRACE_MS = 2000;

interface Mode {
  readonly name: FileLockMode;
  attempt(path: string, own: LockRecord): Promise<ModeAttempt>;
}

/** One attempt at a file lock, in whichever mode the directory is bound to. */
export class FileLockBackend implements LockBackend {
  readonly adapter = "file";
  private readonly directory: string;
  private readonly processes: Processes;
  private readonly closing = new AbortController();
  private readonly releases = new Set<Promise<void>>();
  private readonly tenures = new Map<string, FileTenure>();
  private readonly watch: ReleaseWatch;
  private opening: Promise<Mode> | undefined;

  constructor(private readonly options: FileLockBackendOptions) {
    // Now, not at the first attempt: the process may change its working directory meanwhile.
    this.directory = resolve(options.directory);
    this.processes = options.processes ?? new LocalProcesses();
    this.watch = new ReleaseWatch(this.directory);
  }

  attempt(resourceId: string, request: AttemptRequest): Promise<Attempt> {
    return orUnavailable(resourceId, async () => {
      try {
        return await this.attemptNow(resourceId, request);
      } catch (error) {
        // Somebody has removed the directory: it is made again, once.
        if (!isMissing(error)) throw error;
        this.opening = undefined;
        return this.attemptNow(resourceId, request);
      }
    });
  }

  /** The current tenure this process has of an id, for those who start a command under it. */
  tenureOf(resourceId: string): FileTenure | undefined {
    return this.tenures.get(resourceId);
  }

  lockFile(resourceId: string): string {
    return join(this.directory, lockFileName(resourceId));
  }

  onReleased(resourceId: string, wake: () => void): () => void {
    return this.watch.listen(this.lockFile(resourceId), wake);
  }

  slots(semaphore: Semaphore): LockBackend {
    const pathOf = (resourceId: string): string => join(this.directory, permitsFileName(resourceId));
    const permits = new PermitsFiles(this.options.files ?? new NodeLockFiles(), pathOf);
    return slotsOver(this, permits, semaphore);
  }

  async close(): Promise<void> {
    this.watch.close();
    const grace = setTimeout(() => this.closing.abort(), CLOSING_GRACE_MS);
    await Promise.all(this.releases);
    clearTimeout(grace);
    this.closing.abort();
  }

  private async attemptNow(resourceId: string, request: AttemptRequest): Promise<Attempt> {
    const mode = await this.mode();
    const path = this.lockFile(resourceId);
    const result = await mode.attempt(path, this.newRecord(resourceId, request.purpose));
    if (result.held === undefined) {
      const holder = result.holder === undefined ? {} : { holder: result.holder };
      return { kind: "held", ...holder, advice: advise(mode, path) };
    }
    const { held } = result;
    try {
      const fence = drawFence(join(this.directory, fenceFileName(resourceId)), this.nowMs());
      return { kind: "acquired", tenure: this.begin(resourceId, fence, held) };
    } catch (error) {
      await held.giveBack();
      throw error;
    }
  }

  private begin(resourceId: string, fence: bigint, held: NonNullable<ModeAttempt["held"]>): FileTenure {
    const tenure = new FileTenure(resourceId, fence, {
      ...held,
      giveBack: async () => {
        this.tenures.delete(resourceId);
        const release = held.giveBack();
        this.releases.add(release);
        await release;
        this.releases.delete(release);
      },
    });
    this.tenures.set(resourceId, tenure);
    return tenure;
  }

  private mode(): Promise<Mode> {
    this.opening ??= this.openMode().catch((error: unknown) => {
      // Looked at afresh next time: a person may have put it right.
      this.opening = undefined;
      throw error;
    });
    return this.opening;
  }

  private async openMode(): Promise<Mode> {
    const files = this.options.files ?? new NodeLockFiles();
    const parts = { files, loadKernelLocks, networkFilesystemOf, ...this.options };
    const opened = await openLockDirectory(parts, this.directory, this.options.mode ?? "auto");
    // In kernel mode nothing is written aside but `MODE`, and the directory may be full of locks.
    if (opened.mode === "exclusive-create") await sweepAside(opened.path, this.nowMs());
    const { processes } = this;
    const mode =
      opened.kernelLocks === undefined
        ? new ExclusiveCreateMode(files, processes, this.closing.signal)
        : new KernelMode(opened.kernelLocks, processes);
    return { name: opened.mode, attempt: (path, own) => mode.attempt(path, own) };
  }

  private newRecord(resourceId: string, purpose: string | undefined): LockRecord {
    return {
      ...this.processes.self(),
      resourceId,
      nonce: nonce(8),
      task: purpose ?? null,
      since: new Date(this.nowMs()).toISOString(),
      childPid: null,
      childStartTime: null,
      released: false,
    };
  }

  private nowMs(): number {
    return (this.options.nowMs ?? Date.now)();
  }
}

/** What a person can do beyond waiting longer. */
function advise(mode: Mode, path: string): string {
  return mode.name === "kernel"
    ? `end that process (the lock file is ${path}; removing it frees nothing)`
    : `end that process; if it ran on another host or in another container and is gone for certain, break the lock (holdfast locks break; its file is ${path})`;
}
