import { Semaphore } from "async-mutex";
import type { LockHolder } from "../../../application/ports/lock-provider";
import type { Hold } from "../hold/lend";
import { TicketQueue } from "./ticket-queue";
import type { Attempt } from "../lock-backend";
import type { Wait } from "./wait";

/**
 * The callers of this process who want one id, and what the one in front has learnt for all of them. The line's mutex is
 * what keeps callers apart: a caller is in front only once the mutex has been acquired for it, until the mutex is
 * released. Tickets decide only which caller asks the mutex next.
 */
export class Line {
  /** What `Mutex` of async-mutex is made of, without the second promise that `Mutex` adds to each acquisition. */
  private readonly mutex: Semaphore;
  readonly tickets = new TicketQueue<Wait>();
  /** The section has ended and its lock is being given back: in the way, but not inside. */
  isReleasing = false;
  /** The caller of this process who is inside. */
  hold: Hold | undefined;
  /** The holder at the last answer, if it was outside of this process. */
  holder: LockHolder | undefined;
  advice: string | undefined;
  /** Why the last attempt got no answer. */
  failure: unknown;

  /**
   * `contendedAtMs`: when a holder was last seen inside, on the monotonic clock. `width`: how many may be in front at once,
   * where to be in front is to have the lock.
   */
  constructor(
    readonly resourceId: string,
    public contendedAtMs = -Infinity,
    private readonly width = 1,
  ) {
    this.mutex = new Semaphore(width);
  }

  /** A caller is in front. */
  get isUsed(): boolean {
    return this.mutex.getValue() < this.width;
  }

  /** There is no room in front. From the call of `acquire` on, also before its promise has settled. */
  get isTaken(): boolean {
    return this.mutex.isLocked();
  }

  whoIsInside(): LockHolder | undefined {
    return this.hold?.describe() ?? this.holder;
  }

  wasContendedSince(startedMs: number): boolean {
    return this.hold !== undefined || this.contendedAtMs >= startedMs;
  }

  /** The backend let nobody in. */
  refused(answer: Exclude<Attempt, { kind: "acquired" }>, nowMs: number): void {
    this.failure = undefined;
    this.holder = answer.holder;
    this.advice = answer.kind === "held" ? answer.advice : undefined;
    this.contendedAtMs = nowMs;
  }

  /** Settles when the mutex is the caller's. */
  acquire(): Promise<unknown> {
    return this.mutex.acquire();
  }

  /**
   * Releases the mutex and asks for it on behalf of the first in line, in one run to completion: no newcomer can slip in
   * between. False when no caller waits.
   */
  handOn(): boolean {
    this.mutex.release();
    const next = this.tickets.shift();
    next?.admit(this.acquire());
    return next !== undefined;
  }
}
