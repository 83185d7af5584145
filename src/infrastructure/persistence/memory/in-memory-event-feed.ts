import type { EventFeed, FeedEvent, FeedPage, FeedQuery } from "../../../application/ports/events/event-feed";
import { InvalidCursorError } from "../../../application/ports/payment-repository";
import type { NewPublicEvent } from "../../../application/public-events/public-event";
import type { PaymentId } from "../../../domain/identifiers";
import { PublicationsHeard } from "../events/publications-heard";

/**
 * The feed of payments in the memory of one process: positions are places in a list.
 * Survives nothing, but can be given what a snapshot has kept.
 * Not for money: for trials, sandboxes and tests.
 */
export class InMemoryEventFeed implements EventFeed {
  private readonly events: FeedEvent[] = [];
  private readonly sequences = new Map<PaymentId, number>();
  private readonly heard = new PublicationsHeard();

  /** In the turn in which the payment is written. */
  append(events: readonly NewPublicEvent[]): void {
    for (const event of events) this.put({ ...event, sequence: this.nextSequence(event.paymentId) });
    if (events.length > 0) this.heard.published();
  }

  /** In place of what is here. */
  restore(events: readonly Omit<FeedEvent, "position">[]): void {
    this.events.length = 0;
    this.sequences.clear();
    for (const event of events) this.put(event);
  }

  all(): readonly FeedEvent[] {
    return this.events;
  }

  async latest(): Promise<number> {
    return this.events.length;
  }

  async eventIdAt(position: number): Promise<string | null> {
    return this.events[position - 1]?.id ?? null;
  }

  async read({ after, merchant, paymentId, types, limit }: FeedQuery): Promise<FeedPage> {
    const latest = this.events.length;
    if (after > latest) throw new InvalidCursorError("this position is none of this feed's yet");
    const events: FeedEvent[] = [];
    for (let at = after; at < latest && events.length < limit; at += 1) {
      const event = this.events[at];
      if (
        event !== undefined &&
        (merchant === undefined || event.merchant === merchant) &&
        (paymentId === undefined || event.paymentId === paymentId) &&
        (types === undefined || types.includes(event.type))
      )
        events.push(event);
    }
    const isFull = events.length === limit;
    return { events, through: isFull ? (events.at(-1)?.position ?? after) : latest, isFull };
  }

  get published(): number {
    return this.heard.count;
  }

  changed(since: number, withinMs: number, signal?: AbortSignal): Promise<void> {
    return this.heard.changed(since, withinMs, signal);
  }

  private put(event: Omit<FeedEvent, "position">): void {
    this.events.push({ ...event, position: this.events.length + 1 });
    if (event.paymentId !== null && event.sequence !== null)
      this.sequences.set(event.paymentId, event.sequence);
  }

  private nextSequence(paymentId: PaymentId | null): number | null {
    return paymentId === null ? null : (this.sequences.get(paymentId) ?? 0) + 1;
  }
}
