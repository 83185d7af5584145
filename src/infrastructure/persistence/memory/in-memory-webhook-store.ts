import type {
  ClaimedDelivery,
  ClaimWish,
  Disabling,
  EndpointChange,
  FanOutState,
  Listener,
  NewDelivery,
  Settlement,
  StoredSecret,
  WebhookDelivery,
  WebhookPageQuery,
  WebhookStore,
  DeliveryStatus,
} from "../../../application/ports/events/webhook-store";
import type { Page } from "../../../application/ports/payment-repository";
import type { NewPublicEvent } from "../../../application/public-events/public-event";
import type { MerchantId } from "../../../domain/identifiers";
import {
  failingAfter,
  type WebhookDeliveryId,
  type WebhookEndpoint,
  type WebhookEndpointId,
} from "../../../domain/webhooks/webhook-endpoint";
import { idPage, readIdCursor } from "../webhooks/webhook-cursor";

export interface StoredEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly startsAfter: number;
}
export interface StoredDelivery extends WebhookDelivery, Pick<NewDelivery, "line" | "position"> {}

interface Loan {
  readonly owner: string;
  readonly untilMs: number;
}

/**
 * Webhooks in the memory of one process. Excludes whoever else is in it: each call is one turn.
 * Survives nothing, but can be given what a snapshot has kept.
 * Not for many deliveries: it looks at all that are pending.
 */
export class InMemoryWebhookStore implements WebhookStore {
  private readonly endpoints = new Map<WebhookEndpointId, StoredEndpoint>();
  private readonly deliveries = new Map<WebhookDeliveryId, StoredDelivery>();
  private readonly pending = new Map<WebhookEndpointId, Set<WebhookDeliveryId>>();
  private readonly byEvent = new Map<string, WebhookDeliveryId>();
  private readonly loans = new Map<WebhookDeliveryId, Loan>();
  private state: FanOutState = { position: 0, generation: 0 };
  private writes = 0;

  constructor(
    private readonly tell: (event: NewPublicEvent) => void,
    private readonly nowMs: () => number = () => performance.now(),
  ) {}

  /** Grows with each change. */
  get revision(): number {
    return this.writes;
  }

  content(): {
    endpoints: readonly StoredEndpoint[];
    deliveries: readonly StoredDelivery[];
    state: FanOutState;
  } {
    const { state } = this;
    return { endpoints: [...this.endpoints.values()], deliveries: [...this.deliveries.values()], state };
  }

  restore({ endpoints, deliveries, state }: ReturnType<InMemoryWebhookStore["content"]>): void {
    for (const one of endpoints) this.endpoints.set(one.endpoint.id, one);
    for (const one of deliveries) this.put(one);
    this.state = state;
  }

  async createEndpoint(endpoint: WebhookEndpoint, startsAfter: number, limit: number): Promise<boolean> {
    const theirs = [...this.endpoints.values()].filter((one) => one.endpoint.merchant === endpoint.merchant);
    if (theirs.length >= limit) return false;
    const behind = Math.max(startsAfter, this.state.position);
    this.endpoints.set(endpoint.id, { endpoint, startsAfter: behind });
    this.endpointsChanged();
    return true;
  }

  async findEndpoint(id: WebhookEndpointId): Promise<WebhookEndpoint | null> {
    return this.endpoints.get(id)?.endpoint ?? null;
  }

  async listEndpoints(merchant: MerchantId, query: WebhookPageQuery): Promise<Page<WebhookEndpoint>> {
    const after = query.cursor === undefined ? "" : readIdCursor(query.cursor);
    const found = [...this.endpoints.values()]
      .map(({ endpoint }) => endpoint)
      .filter((one) => one.merchant === merchant && one.id > after)
      .sort((a, b) => (a.id < b.id ? -1 : 1));
    return idPage(found, query.limit);
  }

  async changeEndpoint(
    id: WebhookEndpointId,
    change: EndpointChange,
    ifSecret?: string,
  ): Promise<WebhookEndpoint | null> {
    const stored = this.endpoints.get(id);
    if (stored === undefined) return null;
    if (ifSecret !== undefined && stored.endpoint.secrets.current !== ifSecret) return null;
    const enabled = change.disabled === null ? { failing: null } : {};
    const endpoint = { ...stored.endpoint, ...change, ...enabled };
    this.endpoints.set(id, { ...stored, endpoint });
    this.endpointsChanged();
    return endpoint;
  }

  async deleteEndpoint(id: WebhookEndpointId): Promise<boolean> {
    const wasThere = this.endpoints.delete(id);
    for (const { id: deliveryId, endpointId } of this.deliveries.values())
      if (endpointId === id) this.drop(deliveryId);
    this.pending.delete(id);
    this.endpointsChanged();
    return wasThere;
  }

  async countDisabled(): Promise<number> {
    return [...this.endpoints.values()].filter(({ endpoint }) => endpoint.disabled !== null).length;
  }

  async secretsByBeginning(now: Date, characters: number): Promise<readonly StoredSecret[]> {
    const needed = [...this.endpoints.values()].flatMap(({ endpoint: { id: endpointId, secrets } }) => {
      const { current, previous } = secrets;
      const isPreviousNeeded = previous !== null && previous.until > now;
      return [current, ...(isPreviousNeeded ? [previous.sealed] : [])].map((sealed) => ({
        endpointId,
        sealed,
      }));
    });
    return [...new Map(needed.map((one) => [one.sealed.slice(0, characters), one])).values()];
  }

  async fanOutState(): Promise<FanOutState> {
    return this.state;
  }

  async listeners(): Promise<readonly Listener[]> {
    return [...this.endpoints.values()]
      .filter(({ endpoint }) => endpoint.disabled === null)
      .map(({ endpoint: { id, merchant, types }, startsAfter }) => ({ id, merchant, types, startsAfter }));
  }

  async fanOut(from: FanOutState, to: number, deliveries: readonly NewDelivery[]): Promise<boolean> {
    if (from.position !== this.state.position || from.generation !== this.state.generation) return false;
    for (const delivery of deliveries) this.add(delivery);
    this.state = { ...this.state, position: to };
    this.writes += 1;
    return true;
  }

  async enqueue(deliveries: readonly NewDelivery[]): Promise<void> {
    for (const delivery of deliveries) {
      const known = this.byEvent.get(keyOf(delivery));
      const stored = known === undefined ? undefined : this.deliveries.get(known);
      if (stored === undefined) this.add(delivery);
      else if (this.loanOf(stored.id) === null) {
        this.put({ ...stored, status: "pending", attempts: 0, dueAt: delivery.createdAt, settledAt: null });
      }
    }
    this.writes += 1;
  }

  async claim({ owner, leaseMs, now, perEndpoint, limit }: ClaimWish): Promise<readonly ClaimedDelivery[]> {
    const due = [...this.pending.keys()].map((id) => this.claimable(id, now)).filter((one) => one.length > 0);
    due.sort(([a], [b]) => Number(a?.dueAt) - Number(b?.dueAt));
    const claimed: ClaimedDelivery[] = [];
    for (const theirs of due) {
      const endpoint = this.endpoints.get(theirs[0]?.endpointId ?? ("" as WebhookEndpointId))?.endpoint;
      if (endpoint === undefined) continue;
      const taken = [...(this.pending.get(endpoint.id) ?? [])].filter(
        (id) => this.loanOf(id) !== null,
      ).length;
      for (const delivery of theirs.slice(0, Math.max(0, perEndpoint - taken))) {
        if (claimed.length >= limit) return claimed;
        this.loans.set(delivery.id, { owner, untilMs: this.nowMs() + leaseMs });
        claimed.push(lent(delivery, endpoint));
      }
    }
    return claimed;
  }

  async renew(owner: string, ids: readonly WebhookDeliveryId[], leaseMs: number): Promise<void> {
    for (const id of ids)
      if (this.loans.get(id)?.owner === owner) this.loans.set(id, { owner, untilMs: this.nowMs() + leaseMs });
  }

  async giveBack(owner: string, ids: readonly WebhookDeliveryId[]): Promise<void> {
    for (const id of ids) if (this.loans.get(id)?.owner === owner) this.loans.delete(id);
  }

  async settle({ owner, deliveryId, endpointId, line, attempt, next, disable }: Settlement): Promise<void> {
    const delivery = this.deliveries.get(deliveryId);
    if (delivery?.status !== "pending") return;
    if (next !== "delivered" && this.loans.get(deliveryId)?.owner !== owner) return;
    this.loans.delete(deliveryId);
    const isSettled = typeof next === "string";
    this.put({
      ...delivery,
      status: isSettled ? next : "pending",
      attempts: delivery.attempts + 1,
      dueAt: isSettled ? null : next,
      settledAt: isSettled ? attempt.at : null,
      lastAttempt: attempt,
    });
    const stored = this.endpoints.get(endpointId);
    this.moveLine(endpointId, line, isSettled ? attempt.at : stored?.endpoint.ordered === true ? next : null);
    if (stored !== undefined) this.judge(stored, next === "delivered", attempt.at, disable);
    this.writes += 1;
  }

  async nextDueAt(): Promise<Date | null> {
    const heads = [...this.pending.keys()].flatMap((id) =>
      this.claimable(id, FAR_AWAY).map(({ dueAt }) => dueAt),
    );
    const times = heads.filter((at) => at !== null).map(Number);
    return times.length === 0 ? null : new Date(Math.min(...times));
  }

  async findDelivery(id: WebhookDeliveryId): Promise<WebhookDelivery | null> {
    return this.deliveries.get(id) ?? null;
  }

  async listDeliveries(
    endpointId: WebhookEndpointId,
    { status, limit, cursor }: WebhookPageQuery & { readonly status?: DeliveryStatus },
  ): Promise<Page<WebhookDelivery>> {
    const before = cursor === undefined ? "g" : readIdCursor(cursor);
    const found = [...this.deliveries.values()]
      .filter((one) => one.endpointId === endpointId && one.id < before)
      .filter((one) => status === undefined || one.status === status)
      .sort((a, b) => (a.id < b.id ? 1 : -1));
    return idPage(found, limit);
  }

  async tend({
    settledBefore,
    limit,
  }: {
    readonly settledBefore: Date;
    readonly limit: number;
  }): Promise<void> {
    const old = [...this.deliveries.values()].filter(
      ({ settledAt }) => settledAt !== null && settledAt < settledBefore,
    );
    for (const { id } of old.slice(0, limit)) this.drop(id);
  }

  async backlog(now: Date): Promise<{ pending: number; oldestDueAt: Date | null }> {
    const all = [...this.pending.values()].flatMap((ids) => [...ids]);
    const due = all
      .map((id) => this.deliveries.get(id)?.dueAt ?? null)
      .filter((at) => at !== null && at <= now);
    return {
      pending: all.length,
      oldestDueAt: due.length === 0 ? null : new Date(Math.min(...due.map(Number))),
    };
  }

  /** What could be lent now, the one that is due longest first. */
  private claimable(endpointId: WebhookEndpointId, now: Date): StoredDelivery[] {
    const endpoint = this.endpoints.get(endpointId)?.endpoint;
    if (endpoint === undefined || endpoint.disabled !== null) return [];
    const theirs = [...(this.pending.get(endpointId) ?? [])].flatMap((id) => this.deliveries.get(id) ?? []);
    const heads = new Map<string, number>();
    for (const { line, position } of theirs)
      heads.set(line, Math.min(position, heads.get(line) ?? Number.MAX_SAFE_INTEGER));
    return theirs
      .filter(({ dueAt }) => dueAt !== null && dueAt <= now)
      .filter(({ id }) => this.loanOf(id) === null)
      .filter(({ line, position }) => !endpoint.ordered || heads.get(line) === position)
      .sort((a, b) => Number(a.dueAt) - Number(b.dueAt) || a.position - b.position);
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
    this.endpoints.set(endpoint.id, { ...stored, endpoint: { ...endpoint, failing, disabled } });
    if (!isEnd) return;
    this.endpointsChanged();
    this.tell(disable.event);
  }

  /** Those behind it that were never tried wait as long as it does, so that they are not looked at for nothing. */
  private moveLine(endpointId: WebhookEndpointId, line: string, dueAt: Date | null): void {
    if (dueAt === null) return;
    for (const id of [...(this.pending.get(endpointId) ?? [])]) {
      const other = this.deliveries.get(id);
      if (other?.line === line && other.attempts === 0) this.put({ ...other, dueAt });
    }
  }

  private loanOf(id: WebhookDeliveryId): Loan | null {
    const loan = this.loans.get(id);
    return loan !== undefined && loan.untilMs > this.nowMs() ? loan : null;
  }

  private add(delivery: NewDelivery): void {
    if (this.byEvent.has(keyOf(delivery))) return;
    const { createdAt: dueAt } = delivery;
    this.put({ ...delivery, status: "pending", attempts: 0, dueAt, settledAt: null, lastAttempt: null });
  }

  private put(delivery: StoredDelivery): void {
    this.deliveries.set(delivery.id, delivery);
    this.byEvent.set(keyOf(delivery), delivery.id);
    const theirs = this.pending.get(delivery.endpointId) ?? new Set();
    if (delivery.status === "pending") this.pending.set(delivery.endpointId, theirs.add(delivery.id));
    else if (theirs.delete(delivery.id) && theirs.size === 0) this.pending.delete(delivery.endpointId);
  }

  private drop(id: WebhookDeliveryId): void {
    const delivery = this.deliveries.get(id);
    if (delivery === undefined) return;
    this.deliveries.delete(id);
    this.byEvent.delete(keyOf(delivery));
    this.loans.delete(id);
    this.writes += 1;
  }

  private endpointsChanged(): void {
    this.state = { ...this.state, generation: this.state.generation + 1 };
    this.writes += 1;
  }
}

/** Later than any due time. */
const FAR_AWAY = new Date(8.64e15);

function keyOf({ endpointId, eventId }: Pick<NewDelivery, "endpointId" | "eventId">): string {
  return `${endpointId} ${eventId}`;
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
