/** One place in a queue. Only the queue changes it. */
export class Ticket<T> {
  previous: Ticket<T> | undefined;
  next: Ticket<T> | undefined;
  isQueued = true;

  constructor(readonly value: T) {}
}

/** First in, first out, and out of the middle: each step in constant time, however long the queue. */
export class TicketQueue<T> {
  private first: Ticket<T> | undefined;
  private last: Ticket<T> | undefined;

  /** How many wait. */
  size = 0;

  /** Who is first, and stays. */
  get head(): Ticket<T> | undefined {
    return this.first;
  }

  get isEmpty(): boolean {
    return this.first === undefined;
  }

  push(value: T): Ticket<T> {
    const ticket = new Ticket(value);
    ticket.previous = this.last;
    this.size += 1;
    if (this.last === undefined) this.first = ticket;
    else this.last.next = ticket;
    this.last = ticket;
    return ticket;
  }

  shift(): T | undefined {
    const ticket = this.first;
    if (ticket === undefined) return undefined;
    this.remove(ticket);
    return ticket.value;
  }

  /** Does nothing to a ticket whose turn has come already. */
  remove(ticket: Ticket<T>): void {
    if (!ticket.isQueued) return;
    ticket.isQueued = false;
    this.size -= 1;
    if (ticket.previous === undefined) this.first = ticket.next;
    else ticket.previous.next = ticket.next;
    if (ticket.next === undefined) this.last = ticket.previous;
    else ticket.next.previous = ticket.previous;
    ticket.previous = ticket.next = undefined;
  }
}
