import type { LockQueue } from "../../../application/ports/lock-queues";
import type { Line } from "./line";
import type { Wait } from "./wait";

/**
 * The lines of all ids, each first come first served. `async-mutex` cannot withdraw one waiter, so no caller queues at a
 * mutex itself: callers hold tickets, and giving up removes a ticket at once.
 */
export class Lines<L extends Line = Line> {
  protected readonly byId = new Map<string, L>();

  constructor(private readonly open: (resourceId: string, permits: number) => L) {}

  /** How many ids have a user. */
  get size(): number {
    return this.used().length;
  }

  /** Who is inside and how many wait, id by id. */
  queues(): readonly LockQueue[] {
    return this.used().map((line) => {
      const holder = line.whoIsInside();
      return {
        resourceId: line.resourceId,
        waiting: line.tickets.size,
        ...(holder === undefined ? {} : { holder }),
      };
    });
  }

  /**
   * Phase 1: the id's line, found or made. Must be followed by `reachFront` with nothing awaited in between: in
   * JavaScript, running to completion *is* the lock over all lines.
   */
  of(resourceId: string, permits = 1): L {
    let line = this.byId.get(resourceId);
    if (line === undefined) {
      line = this.open(resourceId, permits);
      this.byId.set(resourceId, line);
    }
    return line;
  }

  /**
   * Phase 2. Resolved: the caller is in front, and must call `leaveFront`. A caller that found the line free needs no
   * `wait`; if it was wrong about that, the mutex keeps it out all the same.
   */
  reachFront(line: L, wait: Wait | undefined): Promise<unknown> {
    if (wait === undefined || !line.isTaken) return line.acquire();
    const onlyReleaseIsInTheWay = line.isReleasing && line.tickets.isEmpty;
    if (wait.isSingleAttempt && !onlyReleaseIsInTheWay) {
      wait.arm(line);
      wait.giveUp(wait.outOfTime(true));
      wait.check();
    }
    wait.begin(line);
    return wait.queueIn(line.tickets);
  }

  leaveFront(line: L): void {
    line.hold = undefined;
    line.isReleasing = false;
    if (!line.handOn() && !line.isUsed) this.rest(line);
  }

  /** The line's last user has left: it is forgotten, and not one microtask later. */
  protected rest(line: L): void {
    this.byId.delete(line.resourceId);
  }

  protected used(): readonly L[] {
    return [...this.byId.values()].filter(({ isUsed }) => isUsed);
  }
}
