import { LockUnavailableError } from "../../../application/ports/lock-errors";
import type { Attempt, AttemptRequest, LockBackend } from "../lock-backend";

export type Answer = Attempt | { readonly kind: "failed"; readonly error: unknown };

/**
 * What this process asks of the backend for one id: one attempt after the other, until the lock is had or no caller wants
 * it. It belongs to the line and not to a caller: an attempt whose caller gave up goes on, and its answer is for whoever
 * is in front by then.
 */
export class Bid {
  private underway: Promise<Answer> | undefined;
  /** Also after a failed attempt: the request may have arrived. */
  private mayHaveLeftTrace = false;

  constructor(
    private readonly backend: LockBackend,
    private readonly resourceId: string,
  ) {}

  /** The answer of the attempt under way, or of a new one. Never rejects. Whoever acts on it calls `take`. */
  ask(request: AttemptRequest): Promise<Answer> {
    return (this.underway ??= this.start(request));
  }

  take(answer: Answer): void {
    this.underway = undefined;
    if (answer.kind === "acquired") this.mayHaveLeftTrace = false;
  }

  /** Resolves when no attempt is under way. Its answer is still to be taken. */
  async quiet(): Promise<void> {
    await this.underway;
  }

  /** No caller wants this id any more. A lock that no caller came to take is given back. */
  async withdraw(): Promise<void> {
    const answer = await this.underway;
    if (answer !== undefined) this.take(answer);
    if (answer?.kind === "acquired") await answer.tenure.release();
    if (this.mayHaveLeftTrace) this.backend.leave?.(this.resourceId);
    this.mayHaveLeftTrace = false;
  }

  /** Calls back when it may be worth asking again; returns how to stop listening. */
  onReleased(wake: () => void): () => void {
    return this.backend.onReleased?.(this.resourceId, wake) ?? (() => {});
  }

  private async start(request: AttemptRequest): Promise<Answer> {
    if (request.mayWait) this.mayHaveLeftTrace = true;
    try {
      return await this.backend.attempt(this.resourceId, request);
    } catch (error) {
      return { kind: "failed", error };
    }
  }
}

export function isPermanent(error: unknown): error is LockUnavailableError {
  return error instanceof LockUnavailableError && error.permanent;
}
