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
  /** What `Mutex` of async-mutex is inside; `take` and `handOn` need none of the promises that `Mutex` adds to a turn. */
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

  /** False while somebody is in front. Settled at once: nobody ever queues at the mutex. */
  take(): boolean {
    if (this.mutex.isLocked()) return false;
    this.mutex.setValue(0);
    return true;
  }

  /** To the first in line, with the mutex locked all the while: no newcomer can slip in. False when nobody waits. */
  handOn(): boolean {
    const next = this.tickets.shift();
    if (next === undefined) this.mutex.setValue(1);
    else next.admit();
    return next !== undefined;
  }
}

/**
 * Who may be in front, per id, first come first served. `async-mutex` cannot withdraw one waiter, so nobody queues at
 * the mutex: it is taken when it is free, or handed to the first ticket, and giving up removes a ticket at once.
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

  /** Phase 2. Undefined, or resolved: the caller is in front, and must `pass` the turn on. */
  turn(entry: E, wait: Wait): Promise<void> | undefined {
    if (entry.take()) return undefined;
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
    if (!entry.handOn()) this.entries.delete(entry.resourceId);
  }
}
