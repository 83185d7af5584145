import { LockUnavailableError } from "../../application/ports/lock-errors";
import type { Attempt, AttemptRequest, LockBackend } from "./lock-backend";

export type Answer = Attempt | { readonly kind: "failed"; readonly error: unknown };

/**
 * The place of this process among those who want one id. It belongs to the line and not to a caller: an attempt whose
 * caller gave up goes on, and its answer is for whoever is in front by then.
 */
export class RemotePlace {
  private underway: Promise<Answer> | undefined;
  /** Also after a failed attempt: the request may have arrived. */
  private mayBeRegistered = false;

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
    if (answer.kind === "acquired") this.mayBeRegistered = false;
  }

  /** Resolves when no attempt is under way. Its answer is still to be taken. */
  async quiet(): Promise<void> {
    await this.underway;
  }

  /** Nobody wants this id any more. A lock that nobody came to take is given back. */
  async leave(): Promise<void> {
    const answer = await this.underway;
    if (answer !== undefined) this.take(answer);
    if (answer?.kind === "acquired") await answer.tenure.release();
    if (this.mayBeRegistered) this.backend.leave?.(this.resourceId);
    this.mayBeRegistered = false;
  }

  /** Calls back when it may be worth asking again; returns how to stop listening. */
  onReleased(wake: () => void): () => void {
    return this.backend.onReleased?.(this.resourceId, wake) ?? (() => {});
  }

  private async start(request: AttemptRequest): Promise<Answer> {
    if (request.mayWait) this.mayBeRegistered = true;
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
