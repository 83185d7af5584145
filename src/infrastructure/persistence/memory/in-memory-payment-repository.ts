import { isLapsed } from "../../../domain/payment/expiry";
import { restored } from "../../../domain/payment/restored";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import { isDue } from "../../../application/operations/reconcile-schedule";
import type {
  DueOperation,
  EventQuery,
  LapsedAuthorization,
  Page,
  PaymentQuery,
  PaymentRepository,
  ReviewItem,
  ReviewQuery,
  StoredPayment,
  Unsettled,
} from "../../../application/ports/payment-repository";
import type { IdempotencyKey, MerchantId, OperationId, PaymentId } from "../../../domain/identifiers";
import { isInReview, type Operation, type OperationBond } from "../../../domain/payment/operation";
import type { Payment } from "../../../domain/payment/payment";
import { openOperationOf } from "../../../domain/payment/payment";
import type { PaymentEvent } from "../../../domain/payment/events";
import { publicEventsOf } from "../../../application/public-events/public-events-of";
import { InMemoryAuditTrail } from "./in-memory-audit-trail";
import { InMemoryEventFeed } from "./in-memory-event-feed";
import { eventPosition, isAfter, pageOf, readCursor, type Position } from "../sql/cursor";
import { inMemoryGuards, type Guard, type Write } from "./in-memory-guards";
import { toMs } from "../sql/payment-rows";
import { matches, toLookAt, unsettledOf } from "./in-memory-scans";
import type { TraceContexts } from "../traces/trace-contexts";
import { paymentsSnapshot, restoredPayments, type PaymentsSnapshot } from "../payments-snapshot";

interface Entry extends StoredPayment {
  readonly events: readonly PaymentEvent[];
}

/**
 * Payments in the memory of one process. Excludes nobody: order is the lock's work, truth the guards'.
 * Survives nothing: with the process goes every payment.
 * Not for money: for trials, sandboxes and tests.
 */
export class InMemoryPaymentRepository implements PaymentRepository {
  private readonly entries = new Map<PaymentId, Entry>();
  private readonly paymentOfOperation = new Map<OperationId, PaymentId>();
  private readonly paymentOfAuthorizeKey = new Map<string, PaymentId>();
  private readonly paymentOfAuthorization = new Map<string, PaymentId>();
  /** What these payments have told. */
  readonly feed = new InMemoryEventFeed();
  private writes = 0;
  /** In which trace something is written; undefined where nothing is traced. */
  private currentTrace: (() => string | null) | undefined;
  private readonly traces = new Map<string, string>();
  readonly traceContexts: TraceContexts = {
    keep: (current) => void (this.currentTrace = current),
    ofOperation: async (id) => this.traces.get(id) ?? null,
    ofEvent: async (id) => this.traces.get(id) ?? null,
  };

  constructor(
    private readonly guards: readonly Guard<string>[] = inMemoryGuards,
    private readonly trail = new InMemoryAuditTrail(),
  ) {}

  /** What was stored elsewhere, in place of what is here. Throws on what is not a snapshot, and then changes nothing. */
  restore(snapshot: unknown): void {
    const { payments, publicEvents } = restoredPayments(snapshot);
    this.entries.clear();
    this.paymentOfOperation.clear();
    this.paymentOfAuthorizeKey.clear();
    this.paymentOfAuthorization.clear();
    for (const { version, facts, events } of payments)
      this.put({ payment: restored(facts), version, events });
    this.feed.restore(publicEvents);
  }

  /** JSON. Nothing is awaited, so it is of one instant. */
  snapshot(): PaymentsSnapshot {
    const stored = [...this.entries.values()];
    return paymentsSnapshot(
      stored.map(({ payment, version, events }) => ({ version, facts: payment.facts, events })),
      this.feed.all(),
    );
  }

  /** Grows with each change. */
  get revision(): number {
    return this.writes;
  }

  get size(): number {
    return this.entries.size;
  }

  async find(id: PaymentId): Promise<StoredPayment | null> {
    const entry = this.entries.get(id);
    return entry === undefined ? null : { payment: entry.payment, version: entry.version };
  }

  async findByAuthorizeKey(merchant: MerchantId, key: IdempotencyKey): Promise<PaymentId | null> {
    return this.paymentOfAuthorizeKey.get(authorizeKey(merchant, key)) ?? null;
  }

  async findByOperation(operationId: OperationId): Promise<PaymentId | null> {
    return this.paymentOfOperation.get(operationId) ?? null;
  }

  async findByAuthorization(reference: string): Promise<PaymentId | null> {
    return this.paymentOfAuthorization.get(reference) ?? null;
  }

  async findByGatewayReference(reference: string, limit: number): Promise<readonly PaymentId[]> {
    const found = this.payments().filter(
      ({ facts }) =>
        facts.authorizationReference === reference ||
        facts.operations.some(({ gatewayReference }) => gatewayReference === reference),
    );
    return found.slice(0, limit).map(({ facts }) => facts.id);
  }

  /** Nothing is awaited between reading what is there and writing: no other save comes in between. */
  async save(payment: Payment, expectedVersion: number | "new", entry?: AuditEntry): Promise<StoredPayment> {
    const { facts } = payment;
    const before = this.entries.get(facts.id);
    const operations = mergeOperations(before?.payment.facts.operations ?? [], facts.operations);
    const key = facts.operations.find(({ kind }) => kind === "authorize")?.idempotencyKey ?? null;
    const owner =
      key === null ? undefined : this.paymentOfAuthorizeKey.get(authorizeKey(facts.merchant, key));
    const authorization = facts.authorizationReference;
    const authorized = authorization === null ? undefined : this.paymentOfAuthorization.get(authorization);
    const write: Write = {
      payment,
      expectedVersion,
      operations,
      stored: before,
      storedEvents: before?.events ?? [],
      authorizeKeyTaken: owner !== undefined && owner !== facts.id,
      authorizationTaken: authorized !== undefined && authorized !== facts.id,
    };
    const refusing = this.guards.find((guard) => guard.refuses(write));
    if (refusing !== undefined) throw refusing.error(write);

    const stored: StoredPayment = {
      payment: restored({ ...facts, operations }),
      version: (before?.version ?? 0) + 1,
    };
    this.put({ ...stored, events: [...write.storedEvents, ...payment.newEvents] });
    const publicEvents = publicEventsOf(payment);
    this.feed.append(publicEvents);
    const trace = this.currentTrace?.() ?? null;
    if (trace !== null) this.keepTrace(trace, [...operations, ...publicEvents]);
    if (entry !== undefined) this.trail.keep(entry);
    this.writes += 1;
    return stored;
  }

  /** The first one: what an operation is later does not change where it began. */
  private keepTrace(trace: string, begun: readonly { readonly id: string }[]): void {
    for (const { id } of begun) if (!this.traces.has(id)) this.traces.set(id, trace);
  }

  private put(entry: Entry): void {
    const { id, merchant, operations } = entry.payment.facts;
    this.entries.set(id, entry);
    for (const operation of operations) this.paymentOfOperation.set(operation.id, id);
    const key = operations.find(({ kind }) => kind === "authorize")?.idempotencyKey ?? null;
    if (key !== null) this.paymentOfAuthorizeKey.set(authorizeKey(merchant, key), id);
    const { authorizationReference } = entry.payment.facts;
    if (authorizationReference !== null) this.paymentOfAuthorization.set(authorizationReference, id);
  }

  async list(query: PaymentQuery): Promise<Page<Payment>> {
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const found = this.payments()
      .filter((payment) => matches(payment, query))
      .map((payment) => ({ payment, position: createdPosition(payment) }))
      .filter(({ position }) => after === undefined || isAfter(after, position))
      .sort((a, b) => (isAfter(a.position, b.position) ? -1 : 1));
    const page = pageOf(found, query.limit, ({ position }) => position);
    return { ...page, data: page.data.map(({ payment }) => payment) };
  }

  async events(id: PaymentId): Promise<readonly PaymentEvent[] | null> {
    return this.entries.get(id)?.events ?? null;
  }

  async eventPage(id: PaymentId, { limit, cursor }: EventQuery): Promise<Page<PaymentEvent> | null> {
    const after = cursor === undefined ? 0n : readCursor(cursor).atMs;
    const events = this.entries.get(id)?.events;
    if (events === undefined) return null;
    return pageOf(
      events.filter(({ sequence }) => BigInt(sequence) > after),
      limit,
      eventPosition,
    );
  }

  async dueOperations(now: Date, limit: number, after?: DueOperation): Promise<readonly DueOperation[]> {
    const start = after && { atMs: toMs(after.dueAt), id: after.operationId };
    return this.operations()
      .flatMap((operation) => {
        const { paymentId, id, dueAt } = operation;
        return dueAt !== null && isDue(operation, now)
          ? [{ item: { paymentId, operationId: id, dueAt }, position: { atMs: toMs(dueAt), id } }]
          : [];
      })
      .filter(({ position }) => start === undefined || isAfter(position, start))
      .sort((a, b) => (isAfter(a.position, b.position) ? 1 : -1))
      .slice(0, limit)
      .map(({ item }) => item);
  }

  async lapsedAuthorizations(
    endedBy: Date,
    limit: number,
    after?: LapsedAuthorization,
  ): Promise<readonly LapsedAuthorization[]> {
    const start = after && { atMs: toMs(after.expiresAt), id: after.paymentId };
    return this.payments()
      .filter((payment) => isLapsed(payment, endedBy) && openOperationOf(payment) === undefined)
      .map(({ facts }) => ({
        item: { paymentId: facts.id, expiresAt: facts.expiresAt },
        position: { atMs: toMs(facts.expiresAt), id: facts.id },
      }))
      .filter(({ position }) => start === undefined || isAfter(position, start))
      .sort((a, b) => (isAfter(a.position, b.position) ? 1 : -1))
      .slice(0, limit)
      .map(({ item }) => item);
  }

  async operationsInReview({ limit, cursor }: ReviewQuery): Promise<Page<ReviewItem>> {
    const after = cursor === undefined ? undefined : readCursor(cursor);
    const found = toLookAt(this.payments(), isInReview).filter(
      ({ position }) => after === undefined || isAfter(position, after),
    );
    const page = pageOf(found, limit, ({ position }) => position);
    return { ...page, data: page.data.map(({ item }) => item) };
  }

  async countInReview(): Promise<number> {
    return this.operations().filter(isInReview).length;
  }

  async unknownOperations(merchant: MerchantId | null, limit: number): Promise<readonly ReviewItem[]> {
    return toLookAt(this.payments(), ({ status }) => status === "unknown")
      .map(({ item }) => item)
      .filter((item) => merchant === null || item.merchant === merchant)
      .slice(0, limit);
  }

  async ping(): Promise<void> {}

  async unsettled(): Promise<Unsettled> {
    return unsettledOf(this.operations());
  }

  private payments(): readonly Payment[] {
    return [...this.entries.values()].map(({ payment }) => payment);
  }

  private operations(): readonly Operation[] {
    return this.payments().flatMap(({ facts }) => facts.operations);
  }
}

/** As rows are upserted: what is not given stays, and so does what an operation is bound to. */
function mergeOperations(stored: readonly Operation[], given: readonly Operation[]): readonly Operation[] {
  const byId = new Map(stored.map((operation) => [operation.id, operation]));
  for (const operation of given) {
    const known = byId.get(operation.id);
    byId.set(operation.id, known === undefined ? operation : { ...operation, ...bondOf(known) });
  }
  return [...byId.values()];
}

function bondOf(operation: Operation): OperationBond {
  const { id, paymentId, kind, origin, idempotencyKey, fingerprint, amount, createdAt } = operation;
  return { id, paymentId, kind, origin, idempotencyKey, fingerprint, amount, createdAt };
}

function createdPosition({ facts }: Payment): Position {
  return { atMs: toMs(facts.createdAt), id: facts.id };
}

function authorizeKey(merchant: MerchantId, key: IdempotencyKey): string {
  return `${merchant} ${key}`;
}
