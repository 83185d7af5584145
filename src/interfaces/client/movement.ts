import { HoldfastNotSettledError } from "./client-errors";
import type { Patience, WireAnswer } from "./exchange";
import { waitFor } from "./wait-for";

const SHORTEST_PAUSE_MS = 100;

/** A movement of money that the server has taken. */
export class Movement<Answer> {
  readonly answer: Answer;
  /** False: the outcome is not known yet (status 202). */
  readonly isSettled: boolean;
  /** Whether the answer had been stored before: nothing was done now. */
  readonly isReplayed: boolean;

  /** @internal */
  constructor(
    private readonly latest: WireAnswer,
    readonly idempotencyKey: string,
    private readonly repeat: (patience: Patience) => Promise<WireAnswer>,
    private readonly defaultWithinMs: number,
  ) {
    this.answer = latest.body as Answer;
    this.isSettled = latest.status !== 202;
    this.isReplayed = latest.isReplayed;
  }

  /**
   * Repeats the request with its key until the outcome is known, as often as the server asks for. Rejects with the refusal
   * that the movement ended with, or with HoldfastNotSettledError when the time does not suffice.
   */
  async waitUntilSettled({ withinMs = this.defaultWithinMs, signal }: Partial<Patience> = {}): Promise<
    Movement<Answer>
  > {
    const endsAtMs = performance.now() + withinMs;
    let answer = this.latest;
    while (answer.status === 202) {
      const waitMs = Math.max(answer.retryAfterMs ?? 0, SHORTEST_PAUSE_MS);
      const leftMs = endsAtMs - performance.now();
      if (waitMs >= leftMs) throw new HoldfastNotSettledError(this.idempotencyKey, waitMs);
      await waitFor(waitMs, signal);
      answer = await this.repeat({ withinMs: endsAtMs - performance.now(), signal });
    }
    return answer === this.latest
      ? this
      : new Movement<Answer>(answer, this.idempotencyKey, this.repeat, this.defaultWithinMs);
  }
}
