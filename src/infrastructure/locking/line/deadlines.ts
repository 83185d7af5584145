import type { LockClock } from "../lock-clock";
import { TicketQueue, type Ticket } from "./ticket-queue";

/** Who is to be told when its time is over. */
export interface Due {
  readonly deadlineMs: number;
  reachDeadline(): void;
}

/**
 * Many deadlines on few timers. Whoever brought the same budget is due in the order of coming, so one timer for the
 * first of them does for all: a timer for each was a third of what a waiter kept in memory.
 */
export class Deadlines {
  private readonly byBudget = new Map<number, DeadlineList>();

  constructor(private readonly clock: LockClock) {}

  /** The list of those who wait at most this long. Must be added to at once: an empty list is forgotten. */
  within(budgetMs: number): DeadlineList {
    let list = this.byBudget.get(budgetMs);
    if (list === undefined) {
      list = new DeadlineList(this.clock, (emptied) => {
        if (this.byBudget.get(budgetMs) === emptied) this.byBudget.delete(budgetMs);
      });
      this.byBudget.set(budgetMs, list);
    }
    return list;
  }
}

export class DeadlineList {
  private readonly queue = new TicketQueue<Due>();
  /** Of a timer that rings no later than the first deadline; earlier if who was first has left meanwhile. */
  private cancelTimer: (() => void) | undefined;

  constructor(
    private readonly clock: LockClock,
    private readonly forget: (list: DeadlineList) => void,
  ) {}

  add(due: Due): Ticket<Due> {
    const ticket = this.queue.push(due);
    if (this.cancelTimer === undefined) this.setTimerFor(due);
    return ticket;
  }

  remove(ticket: Ticket<Due>): void {
    this.queue.remove(ticket);
    if (!this.queue.isEmpty) return;
    this.cancelTimer?.();
    this.cancelTimer = undefined;
    this.forget(this);
  }

  private setTimerFor({ deadlineMs }: Due): void {
    this.cancelTimer = this.clock.after(deadlineMs - this.clock.monotonicMs(), () => this.ring());
  }

  private ring(): void {
    const nowMs = this.clock.monotonicMs();
    let first = this.queue.head;
    for (; first !== undefined && first.value.deadlineMs <= nowMs; first = this.queue.head) {
      this.remove(first);
      first.value.reachDeadline();
    }
    this.cancelTimer = undefined;
    if (first !== undefined) this.setTimerFor(first.value);
  }
}
