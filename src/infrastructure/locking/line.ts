import { Semaphore } from "async-mutex";
import type { LockQueue } from "../../application/ports/lock-queues";
import { Standing } from "./standing";
import { TicketQueue } from "./ticket-queue";
import type { Wait } from "./wait";

/**
 * One id that a caller of this process wants. Its mutex is what keeps callers apart: a caller is in front only once the
 * mutex has been acquired for it, until the mutex is released. Tickets decide only who asks the mutex next.
 */
export class Entry extends Standing {
  /** What `Mutex` of async-mutex is made of, without the second promise that `Mutex` adds to each turn. */
  private readonly mutex = new Semaphore(1);
  readonly tickets = new TicketQueue<Wait>();
  /** The section has ended and its lock is being given back: in the way, but not inside. */
  isReleasing = false;

  constructor(
    readonly resourceId: string,
    contendedAtMs?: number,
  ) {
    super(contendedAtMs);
  }

  /** From the call of `acquire` on, also before its promise has settled. */
  get isTaken(): boolean {
    return this.mutex.isLocked();
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

/**
 * Who may ask for the mutex of an id, first come first served. `async-mutex` cannot withdraw one waiter, so no caller
 * queues at the mutex itself: callers hold tickets, and giving up removes a ticket at once.
 */
export class Line<E extends Entry = Entry> {
  protected readonly entries = new Map<string, E>();

  constructor(private readonly open: (resourceId: string) => E) {}

  /** How many ids have a user. */
  get size(): number {
    return this.used().length;
  }

  /** Who is inside and how many wait, id by id. */
  queues(): readonly LockQueue[] {
    return this.used().map((entry) => {
      const holder = entry.whoIsInside();
      return {
        resourceId: entry.resourceId,
        waiting: entry.tickets.size,
        ...(holder === undefined ? {} : { holder }),
      };
    });
  }

  /**
   * Phase 1. Must be followed by `turn` with nothing awaited in between: in JavaScript, running to completion *is* the
   * lock over all entries.
   */
  enter(resourceId: string): E {
    let entry = this.entries.get(resourceId);
    if (entry === undefined) {
      entry = this.open(resourceId);
      this.entries.set(resourceId, entry);
    }
    return entry;
  }

  /** Phase 2. Resolved: the caller is in front, and must `pass` the turn on. */
  turn(entry: E, wait: Wait): Promise<unknown> {
    if (!entry.isTaken) return entry.acquire();
    const onlyReleaseIsInTheWay = entry.isReleasing && entry.tickets.isEmpty;
    if (wait.isSingleAttempt && !onlyReleaseIsInTheWay) {
      wait.arm(entry);
      wait.giveUp(wait.outOfTime(true));
      wait.check();
    }
    wait.begin(entry);
    return wait.standIn(entry.tickets);
  }

  pass(entry: E): void {
    entry.hold = undefined;
    entry.isReleasing = false;
    if (!entry.handOn()) this.rest(entry);
  }

  /** The entry's last user has left: it is forgotten, and not one microtask later. */
  protected rest(entry: E): void {
    this.entries.delete(entry.resourceId);
  }

  private used(): readonly E[] {
    return [...this.entries.values()].filter(({ isTaken }) => isTaken);
  }
}
