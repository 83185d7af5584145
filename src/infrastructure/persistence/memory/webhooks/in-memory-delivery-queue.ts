import type {
  ClaimedDelivery,
  ClaimWish,
  Disabling,
  Settlement,
  WebhookDeliveryQueue,
} from "../../../../application/ports/events/webhook-delivery-queue";
import type { AuditEntry } from "../../../../application/ports/audit/audit-trail";
import type { NewDelivery } from "../../../../application/ports/events/webhook-fan-out-store";
import type { NewPublicEvent } from "../../../../application/public-events/public-event";
import {
  failingAfter,
  type WebhookDeliveryId,
  type WebhookEndpoint,
  type WebhookEndpointId,
} from "../../../../domain/webhooks/webhook-endpoint";
import { LoansInMemory } from "../../webhooks/loans-in-memory";
import type { InMemoryAuditTrail } from "../in-memory-audit-trail";
import type { StoredDelivery, StoredEndpoint, WebhookMemory } from "./webhook-memory";

/** Later than any due time. */
const FAR_AWAY = new Date(8.64e15);

export class InMemoryDeliveryQueue implements WebhookDeliveryQueue {
  private readonly loans = new LoansInMemory();

  constructor(
    private readonly memory: WebhookMemory,
    private readonly tell: (event: NewPublicEvent) => void,
    private readonly trail: InMemoryAuditTrail,
  ) {}

  async enqueue(deliveries: readonly NewDelivery[], entry?: AuditEntry): Promise<void> {
    const { memory } = this;
    let isAnyPending = false;
    for (const delivery of deliveries) {
      const stored = memory.ofEvent(delivery);
      if (stored !== undefined && this.loans.isLent(stored.id)) continue;
      isAnyPending = true;
      if (stored === undefined) memory.add(delivery);
      else
        memory.put({ ...stored, status: "pending", attempts: 0, dueAt: delivery.createdAt, settledAt: null });
    }
    memory.revision += 1;
    if (isAnyPending && entry !== undefined) this.trail.keep(entry);
  }

  async claim(wish: ClaimWish): Promise<readonly ClaimedDelivery[]> {
    const { owner, leaseMs, now, limit } = wish;
    const due = [...this.memory.pending.keys()]
      .map((id) => this.claimable(id, now))
      .filter((one) => one.length > 0);
    due.sort(([a], [b]) => Number(a?.dueAt) - Number(b?.dueAt));
    const claimed: ClaimedDelivery[] = [];
    for (const theirs of due) {
      const [first] = theirs;
      const endpoint = first && this.memory.endpoints.get(first.endpointId)?.endpoint;
      if (endpoint === undefined) continue;
      const room = Math.min(this.loans.roomFor(endpoint.id, wish), Math.max(0, limit - claimed.length));
      for (const delivery of theirs.slice(0, room)) {
        this.loans.lend(owner, delivery.id, endpoint.id, leaseMs);
        claimed.push(lent(delivery, endpoint));
      }
    }
    return claimed;
  }

  async renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void> {
    this.loans.renew(owner, ids, leaseMs);
  }

  async giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void> {
    this.loans.giveBack(owner, ids);
  }

  async settle(owner: string, settlements: readonly Settlement[]): Promise<void> {
    for (const settlement of settlements) this.settleOne(owner, settlement);
  }

  async nextDueAt(): Promise<Date | null> {
    const heads = [...this.memory.pending.keys()].flatMap((id) =>
      this.claimable(id, FAR_AWAY).map(({ dueAt }) => dueAt),
    );
    const times = heads.filter((at) => at !== null).map(Number);
    return times.length === 0 ? null : new Date(Math.min(...times));
  }

  async backlog(now: Date): Promise<{ pending: number; oldestDueAt: Date | null }> {
    const all = [...this.memory.pending.keys()].flatMap((id) => this.memory.pendingOf(id));
    const due = all.map(({ dueAt }) => dueAt).filter((at) => at !== null && at <= now);
    return {
      pending: all.length,
      oldestDueAt: due.length === 0 ? null : new Date(Math.min(...due.map(Number))),
    };
  }

  /** What could be lent now, the one that is due longest first. */
  private claimable(endpointId: WebhookEndpointId, now: Date): StoredDelivery[] {
    const endpoint = this.memory.endpoints.get(endpointId)?.endpoint;
    if (endpoint === undefined || endpoint.disabled !== null) return [];
    const theirs = this.memory.pendingOf(endpointId);
    const heads = new Map<string, number>();
    for (const { line, position } of theirs)
      heads.set(line, Math.min(position, heads.get(line) ?? Number.MAX_SAFE_INTEGER));
    return theirs
      .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
      .filter(({ id }) => !this.loans.isLent(id))
      .filter(({ line, position }) => !endpoint.ordered || heads.get(line) === position)
      .sort((a, b) => Number(a.dueAt) - Number(b.dueAt) || a.position - b.position);
  }

  private settleOne(
    owner: string,
    { deliveryId, endpointId, line, attempt, next, disable }: Settlement,
  ): void {
    const { memory, loans } = this;
    const delivery = memory.deliveries.get(deliveryId);
    if (delivery?.status !== "pending") return loans.end(deliveryId);
    if (next !== "delivered" && !loans.isWith(owner, deliveryId)) return;
    loans.end(deliveryId);
    const isSettled = typeof next === "string";
    memory.put({
      ...delivery,
      status: isSettled ? next : "pending",
      attempts: delivery.attempts + 1,
      dueAt: isSettled ? null : next,
      settledAt: isSettled ? attempt.at : null,
      lastAttempt: attempt,
    });
    const stored = memory.endpoints.get(endpointId);
    this.moveLine(endpointId, line, isSettled ? attempt.at : stored?.endpoint.ordered === true ? next : null);
    if (stored !== undefined) this.judge(stored, next === "delivered", attempt.at, disable);
    memory.revision += 1;
  }

  /** Those behind it that were never tried wait as long as it does, so that they are not looked at for nothing. */
  private moveLine(endpointId: WebhookEndpointId, line: string, dueAt: Date | null): void {
    if (dueAt === null) return;
    for (const other of this.memory.pendingOf(endpointId))
      if (other.line === line && other.attempts === 0) this.memory.put({ ...other, dueAt });
  }

  private judge(stored: StoredEndpoint, isDelivered: boolean, at: Date, disable: Disabling | null): void {
    const { endpoint } = stored;
    const since = disable?.ifFailingSince ?? null;
    const isEnd =
      disable !== null &&
      endpoint.disabled === null &&
      (since === null || Number(endpoint.failing?.since) === Number(since));
    const failing = isDelivered ? null : failingAfter(endpoint.failing, at);
    const disabled = isEnd ? { at, reason: disable.reason } : endpoint.disabled;
    this.memory.endpoints.set(endpoint.id, { ...stored, endpoint: { ...endpoint, failing, disabled } });
    if (!isEnd) return;
    this.memory.endpointsChanged();
    this.tell(disable.event);
  }
}

function lent(delivery: StoredDelivery, endpoint: WebhookEndpoint): ClaimedDelivery {
  const {
    dueAt: _dueAt,
    settledAt: _settledAt,
    lastAttempt: _lastAttempt,
    status: _status,
    ...rest
  } = delivery;
  return { ...rest, endpoint };
}
