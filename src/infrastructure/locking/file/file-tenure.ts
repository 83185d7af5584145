import { LockLostError } from "../../../application/ports/lock-errors";
import type { Tenure } from "../lock-backend";
import { Loss } from "../hold/loss";

/** What the two modes do differently once the lock is ours. */
export interface HeldFile {
  /** The descriptor a child may inherit, so that the lock lasts while any of the two lives. Kernel mode only. */
  readonly inheritableFd?: number;
  /** Why the lock is no longer ours, by what is on disk now; null while it is. */
  whyLost(): string | null;
  /** Writes down who else keeps this lock alive. */
  nameChild(pid: number): Promise<void>;
  /** Never rejects. */
  giveBack(): Promise<void>;
}

/** How often a holder looks whether its file is still there: a person may have removed it, or broken the lock. */
export const LOOK_EVERY_MS = 2000;

/** One acquisition of a file lock. Clean-up exists only from here on: before, there is nothing of ours to clean up. */
export class FileTenure implements Tenure {
  private readonly loss = new Loss();
  private readonly look: NodeJS.Timeout;
  private naming: Promise<void> = Promise.resolve();
  private ending?: Promise<void>;

  constructor(
    private readonly resourceId: string,
    readonly fencingToken: bigint,
    private readonly held: HeldFile,
  ) {
    this.look = setInterval(() => this.noticeLoss(), LOOK_EVERY_MS);
    this.look.unref();
  }

  get lost(): AbortSignal {
    return this.loss.signal;
  }

  /** Hand it to `spawn` as an entry of `stdio`. Undefined in exclusive-create mode. */
  get inheritableFd(): number | undefined {
    return this.held.inheritableFd;
  }

  /**
   * To be called right after `spawn`. In exclusive-create mode the lock then lasts while this process *or* the child
   * lives; a wrapper killed in the instant between the two does not protect its child.
   */
  async nameChild(pid: number): Promise<void> {
    if (this.ending !== undefined) return;
    const naming = this.held.nameChild(pid);
    this.naming = naming.catch(() => {});
    await naming;
  }

  assertHeld(): void {
    if (this.ending !== undefined) throw new LockLostError(this.resourceId, "it was released");
    const reason = this.noticeLoss();
    if (reason !== null) throw new LockLostError(this.resourceId, reason);
  }

  release(): Promise<void> {
    clearInterval(this.look);
    // Not before the note is written: afterwards the file may be another's.
    this.ending ??= this.naming.then(() => this.held.giveBack());
    return this.ending;
  }

  private noticeLoss(): string | null {
    if (this.loss.reason !== null) return this.loss.reason;
    const reason = this.held.whyLost();
    if (reason !== null) {
      clearInterval(this.look);
      this.loss.declare(reason);
    }
    return reason;
  }
}
