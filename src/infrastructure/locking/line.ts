import { Semaphore } from "async-mutex";
import type { LockQueue } from "../../application/ports/lock-queues";
import { Standing } from "./standing";
import { TicketQueue } from "./ticket-queue";
import type { Wait } from "./wait";

/**
 * One id that somebody of this process wants: who is in front owns the mutex, the others hold tickets. It exists as
 * long as it has a user, and not one microtask longer.
 */
export class Entry extends Standing {
  /** What `Mutex` of async-mutex is inside, without the two promises that it adds to each turn. */
  readonly mutex = new Semaphore(1);
  readonly tickets = new TicketQueue<() => void>();
  /** The section has ended and its lock is being given back: in the way, but not inside. */
  isReleasing = false;

  constructor(
    readonly resourceId: string,
    contendedAtMs?: number,
  ) {
    super(contendedAtMs);
  }
}

/**
 * Who may be in front, per id, first come first served. `async-mutex` cannot withdraw one waiter, so nobody queues at
 * the mutex: a ticket asks it only when its turn has come and it is free, and giving up removes the ticket at once.
 */
export class Line<E extends Entry = Entry> {
  private readonly entries = new Map<string, E>();

  constructor(private readonly open: (resourceId: string) => E) {}

  /** How many ids have a user. */
  get size(): number {
    return this.entries.size;
  }

  /** Who is inside and how many wait, id by id. */
  queues(): readonly LockQueue[] {
    return [...this.entries.values()].map((entry) => {
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

  /** Phase 2. Resolves when the caller is in front; whoever got there must `pass` the turn on. */
  turn(entry: E, wait: Wait): Promise<unknown> {
    if (!entry.mutex.isLocked()) return entry.mutex.acquire();
    const onlyReleaseIsInTheWay = entry.isReleasing && entry.tickets.isEmpty;
    if (wait.isSingleAttempt && !onlyReleaseIsInTheWay) {
      wait.arm(entry);
      wait.giveUp(wait.outOfTime(true));
      wait.check();
    }
    wait.begin(entry);
    return wait.orGivenUp((resolve) => {
      const ticket = entry.tickets.push(() => resolve(entry.mutex.acquire()));
      return () => entry.tickets.remove(ticket);
    });
  }

  pass(entry: E): void {
    entry.hold = undefined;
    entry.isReleasing = false;
    entry.mutex.release();
    // In the same run to completion as the release, or a newcomer could slip in before the first in line.
    const next = entry.tickets.shift();
    if (next === undefined) this.entries.delete(entry.resourceId);
    else next();
  }
}
