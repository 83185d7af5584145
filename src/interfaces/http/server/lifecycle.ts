import type { StoreUnavailableError } from "../../../application/ports/payment-repository";
import { ShuttingDownError } from "../../../application/shutting-down-error";

type Phase = "serving" | "leaving" | "draining";

/**
 * Where the service is between start and exit: `leaving` still serves everybody but says at `/readyz` that it goes,
 * `draining` begins nothing new.
 */
export class Lifecycle {
  private phase: Phase = "serving";
  private readonly listeners = new Set<() => void>();

  /** `refusal`: why nothing may be moved for as long as this process lives, if that is so. */
  constructor(private readonly refusal: StoreUnavailableError | null = null) {}

  get isReady(): boolean {
    return this.phase === "serving";
  }

  get isDraining(): boolean {
    return this.phase === "draining";
  }

  leave(): void {
    if (this.phase === "serving") this.phase = "leaving";
  }

  drain(): void {
    this.phase = "draining";
    for (const listener of [...this.listeners]) listener();
    this.listeners.clear();
  }

  /** Calls back when draining begins. Returns how to forget that. */
  onDrain(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Throws when nothing new may begin. */
  assertServing(): void {
    if (this.refusal !== null) throw this.refusal;
    if (this.isDraining) throw new ShuttingDownError();
  }
}
