import { budgets, longestHoldMs } from "../../../application/time-budgets";

/** What is left of a request's time for its answer to arrive. */
const ANSWER_MS = 500;

/** What a request's time is measured by. */
export interface RequestClock {
  /** On the clock of `performance.now()`. */
  nowMs(): number;
  /** Calls back once after the delay, unless it is cancelled by what this returns. */
  after(delayMs: number, callback: () => void): () => void;
}

const systemClock: RequestClock = {
  nowMs: () => performance.now(),
  after: (delayMs, callback) => {
    const timer = setTimeout(callback, delayMs);
    return () => clearTimeout(timer);
  },
};

/** The time of one request, counted from when its headers were there. */
export class RequestTime {
  private readonly answerByMs: number;

  constructor(
    startedAtMs: number,
    private readonly clock: RequestClock = systemClock,
  ) {
    this.answerByMs = startedAtMs + budgets.httpMs - ANSWER_MS;
  }

  /** How long work that begins now may wait for a lock and still end in time; negative once it is too late to begin. */
  get leftToWaitMs(): number {
    return this.answerByMs - longestHoldMs - this.clock.nowMs();
  }

  /** What the work resolves with, or what `late` gives when the answer is due before that. The work goes on. */
  async within<T>(work: Promise<T>, late: () => T): Promise<T> {
    let cancel = (): void => {};
    const due = new Promise<void>((resolve) => {
      cancel = this.clock.after(this.answerByMs - this.clock.nowMs(), resolve);
    });
    try {
      return await Promise.race([work, due.then(late)]);
    } finally {
      cancel();
    }
  }
}
