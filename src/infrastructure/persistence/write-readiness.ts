import { StoreUnavailableError } from "../../application/ports/payment-repository";

/** Who asks more often is told what was found last. */
const REMEMBERED_MS = 1_000;

/** Two real writes that change nothing anybody looks at. Each resolves when it is durable. */
export interface WriteTrial {
  /** The smallest there is. */
  small(): Promise<void>;
  /** As long as what a payment may need at once: a disk that is nearly full takes a small one and nothing else. */
  long(): Promise<void>;
}

/**
 * Whether the store takes writes. It is told how real ones went; where there was none for a second, it tries one. After a
 * failure only a long trial that succeeds says that all is well again, so that the few small writes which a full disk
 * still takes do not hide the many that it refuses. Wrong for a second at most, in either direction.
 */
export class WriteReadiness {
  private failure: StoreUnavailableError | undefined;
  private knownSinceMs = -Infinity;
  private trial: Promise<void> | undefined;

  constructor(
    private readonly write: WriteTrial,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  succeeded(): void {
    if (this.failure === undefined) this.knownSinceMs = this.nowMs();
  }

  failed(error: StoreUnavailableError): void {
    // Damage does not heal under a running process, and elsewhere in the file a trial would find nothing wrong.
    if (this.failure?.reason === "damaged") return;
    this.failure = error;
    this.knownSinceMs = this.nowMs();
  }

  /** Rejects with what a write failed with. */
  async ask(): Promise<void> {
    const isOld = this.nowMs() - this.knownSinceMs >= REMEMBERED_MS;
    if (isOld && this.failure?.reason !== "damaged") {
      await (this.trial ??= this.try().finally(() => (this.trial = undefined)));
    }
    if (this.failure !== undefined) throw this.failure;
  }

  private async try(): Promise<void> {
    const before = this.failure;
    try {
      await (before === undefined ? this.write.small() : this.write.long());
      // A real write may have failed meanwhile.
      if (this.failure === before) this.failure = undefined;
      this.succeeded();
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error;
      this.failed(error);
    }
  }
}
