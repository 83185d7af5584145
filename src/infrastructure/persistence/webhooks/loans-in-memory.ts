import type { ClaimWish } from "../../../application/ports/events/webhook-delivery-queue";
import type { WebhookDeliveryId, WebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";

interface Loan {
  readonly endpointId: WebhookEndpointId;
  readonly owner: string;
  readonly untilMs: number;
}

/**
 * What is lent to whom, for a store that one process has for itself: it costs no write, and is gone with the process.
 * What has ended is still known as its last owner's until somebody else has it.
 */
export class LoansInMemory {
  private readonly loans = new Map<WebhookDeliveryId, Loan>();
  private readonly byEndpoint = new Map<WebhookEndpointId, Set<WebhookDeliveryId>>();

  constructor(private readonly nowMs: () => number = () => performance.now()) {}

  /** What of this endpoint is lent now. */
  of(endpointId: WebhookEndpointId): readonly WebhookDeliveryId[] {
    return [...(this.byEndpoint.get(endpointId) ?? [])].filter((id) => this.isLent(id));
  }

  isLent(id: WebhookDeliveryId): boolean {
    const loan = this.loans.get(id);
    return loan !== undefined && loan.untilMs > this.nowMs();
  }

  isWith(owner: string, id: WebhookDeliveryId): boolean {
    return this.loans.get(id)?.owner === owner;
  }

  /** How many more of this endpoint may be lent to whoever wishes for them. */
  roomFor(endpointId: WebhookEndpointId, { owner, perEndpoint, alone }: ClaimWish): number {
    const lent = this.of(endpointId);
    const most = lent.every((id) => this.isWith(owner, id)) ? alone : perEndpoint;
    return Math.max(0, most - lent.length);
  }

  lend(owner: string, id: WebhookDeliveryId, endpointId: WebhookEndpointId, leaseMs: number): void {
    this.loans.set(id, { endpointId, owner, untilMs: this.nowMs() + leaseMs });
    const theirs = this.byEndpoint.get(endpointId);
    if (theirs === undefined) this.byEndpoint.set(endpointId, new Set([id]));
    else theirs.add(id);
  }

  renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): void {
    const untilMs = this.nowMs() + leaseMs;
    for (const id of ids) {
      const loan = this.loans.get(id);
      if (loan?.owner === owner) this.loans.set(id, { ...loan, untilMs });
    }
  }

  giveBack(owner: string, ids: readonly WebhookDeliveryId[]): void {
    for (const id of ids) if (this.isWith(owner, id)) this.end(id);
  }

  end(id: WebhookDeliveryId): void {
    const loan = this.loans.get(id);
    if (loan === undefined) return;
    this.loans.delete(id);
    const theirs = this.byEndpoint.get(loan.endpointId);
    if (theirs?.delete(id) === true && theirs.size === 0) this.byEndpoint.delete(loan.endpointId);
  }
}
