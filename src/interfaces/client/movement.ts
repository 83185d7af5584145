import { checkOptions } from "./checked-call";
import { HoldfastNotSettledError } from "./client-errors";
import { namingTheKey, type Patience, type WireAnswer } from "./exchange";
import { waitFor } from "./wait-for";

const SHORTEST_PAUSE_MS = 100;
/** How often it asks when the server says to come back later than this wait lasts: the outcome may be known sooner. */
const PACE_MS = 5_000;
/** What is left for the answer to the last question, unless that would be most of the time. */
const LAST_ANSWER_MS = 1_000;

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
   * Repeats the request with its key until the outcome is known, as often as the server asks for, or every five seconds
   * where that would be after the end, and once at the end. Rejects with the refusal that the movement ended with, or with
   * HoldfastNotSettledError when the time does not suffice.
   */
  async waitUntilSettled(options: Partial<Patience> = {}): Promise<Movement<Answer>> {
    checkOptions(options);
    const { withinMs = this.defaultWithinMs, signal } = options;
    const endsAtMs = performance.now() + withinMs;
    const lastAtMs = endsAtMs - Math.min(LAST_ANSWER_MS, withinMs / 4);
    let answer = this.latest;
    while (answer.status === 202) {
      const toldMs = Math.max(answer.retryAfterMs ?? 0, SHORTEST_PAUSE_MS);
      const untilLastMs = lastAtMs - performance.now();
      // A timer may be over a moment early.
      if (untilLastMs < 1) throw new HoldfastNotSettledError(this.idempotencyKey, toldMs);
      const waitMs = toldMs <= untilLastMs ? toldMs : Math.min(PACE_MS, untilLastMs);
      await namingTheKey(this.idempotencyKey, signal, () => waitFor(waitMs, signal));
      answer = await this.repeat({ withinMs: endsAtMs - performance.now(), signal });
    }
    return answer === this.latest
      ? this
      : new Movement<Answer>(answer, this.idempotencyKey, this.repeat, this.defaultWithinMs);
  }
}
