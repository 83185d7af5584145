import type { WebhookEndpointId } from "../../domain/webhooks/webhook-endpoint";
import type { ClaimedDelivery, ClaimWish } from "../ports/events/webhook-delivery-queue";
import type { WebhookLimits } from "./webhook-limits";

/**
 * Beyond this share of all places, an endpoint gets one at a time: else sixteen slow ones would fill them all. So it takes
 * forty.
 */
const CROWDED = 0.5;

type DeliveryId = ClaimedDelivery["id"];

export interface InHand {
  readonly claimed: ClaimedDelivery;
  readonly sinceMs: number;
}

/** What may be claimed, one wish after the other until there is no more. */
export type Wish = Pick<ClaimWish, "perEndpoint" | "alone" | "limit">;

/**
 * What was lent to this process: it waits for a place, is under way, and is then kept until it is written down what became
 * of it. What waits here belongs to endpoints that have as much under way as they may: it takes no place from others.
 */
export class DeliveriesInHand {
  private readonly waiting = new Map<WebhookEndpointId, InHand[]>();
  private readonly underway = new Map<WebhookEndpointId, number>();
  /** Until when each is lent for certain, on the monotonic clock. */
  private readonly held = new Map<DeliveryId, number>();
  private places = 0;
  private waitingInAll = 0;

  constructor(
    private readonly limits: Pick<
      WebhookLimits,
      "inAll" | "perEndpoint" | "ahead" | "aheadInAll" | "leaseMs"
    >,
  ) {}

  get size(): number {
    return this.held.size;
  }

  get ids(): readonly DeliveryId[] {
    return [...this.held.keys()];
  }

  get isFull(): boolean {
    return this.places >= this.limits.inAll;
  }

  /** Ahead of time only as long as there is room for everybody. */
  get wishes(): readonly (() => Wish)[] {
    const { inAll, perEndpoint, ahead, aheadInAll } = this.limits;
    const half = inAll * CROWDED;
    return [
      () => ({
        perEndpoint,
        alone: ahead,
        limit: this.places < half ? aheadInAll - this.waitingInAll : 0,
      }),
      () => ({ perEndpoint, alone: perEndpoint, limit: half - this.places }),
      () => ({ perEndpoint: 1, alone: 1, limit: inAll - this.places }),
    ];
  }

  /** `sinceMs`: when it was asked for, which is before the loan began. */
  add(claimed: ClaimedDelivery, sinceMs: number): void {
    this.held.set(claimed.id, sinceMs + this.limits.leaseMs);
    const theirs = this.waiting.get(claimed.endpointId);
    if (theirs === undefined) this.waiting.set(claimed.endpointId, [{ claimed, sinceMs }]);
    else theirs.push({ claimed, sinceMs });
    this.waitingInAll += 1;
  }

  /** The next one that has a place, if there is one. It has it until `answered`. */
  next(): InHand | undefined {
    const { inAll, perEndpoint } = this.limits;
    if (this.isFull) return undefined;
    const most = this.places < inAll * CROWDED ? perEndpoint : 1;
    for (const [endpointId, theirs] of this.waiting) {
      const underway = this.underway.get(endpointId) ?? 0;
      if (underway >= most) continue;
      const next = theirs.shift();
      if (theirs.length === 0) this.waiting.delete(endpointId);
      this.underway.set(endpointId, underway + 1);
      this.places += 1;
      this.waitingInAll -= 1;
      return next;
    }
    return undefined;
  }

  /** Its place is free; it stays in hand until it is let go of. */
  answered({ endpointId }: ClaimedDelivery): void {
    const underway = (this.underway.get(endpointId) ?? 0) - 1;
    if (underway > 0) this.underway.set(endpointId, underway);
    else this.underway.delete(endpointId);
    this.places -= 1;
  }

  /** False for what may be lent to another process by now: this one has stood still for too long. */
  isLent(id: DeliveryId, nowMs: number): boolean {
    return nowMs < (this.held.get(id) ?? -Infinity);
  }

  /** A renewal was asked for at that time. It renews nothing whose loan may have been over by then. */
  renewed(ids: readonly DeliveryId[], askedMs: number): void {
    for (const id of ids) if (this.isLent(id, askedMs)) this.held.set(id, askedMs + this.limits.leaseMs);
  }

  letGo(id: DeliveryId): void {
    this.held.delete(id);
  }

  /** Lets go of all that waits for a place, or of what does for one endpoint. */
  letGoOfWaiting(endpoints: Iterable<WebhookEndpointId> = [...this.waiting.keys()]): readonly DeliveryId[] {
    const ids: DeliveryId[] = [];
    for (const endpointId of endpoints) {
      ids.push(...(this.waiting.get(endpointId) ?? []).map(({ claimed }) => claimed.id));
      this.waiting.delete(endpointId);
    }
    this.waitingInAll -= ids.length;
    for (const id of ids) this.held.delete(id);
    return ids;
  }
}
