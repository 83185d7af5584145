import { restored } from "../../../domain/payment/restored";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import { CLOCK_TOLERANCE_MS, FARTHEST_DUE_MS } from "../../../application/operations/reconcile-schedule";
import {
  DuplicateAuthorizationError,
  DuplicateKeyError,
  VersionConflictError,
  type DueOperation,
  type EventQuery,
  type LapsedAuthorization,
  type Page,
  type PaymentQuery,
  type PaymentRepository,
  type ReviewItem,
  type ReviewQuery,
  type StoredPayment,
  type Unsettled,
} from "../../../application/ports/payment-repository";
import type { IdempotencyKey, MerchantId, OperationId, PaymentId } from "../../../domain/identifiers";
import { isOpen, type Operation, type OperationKind } from "../../../domain/payment/operation";
import type { Payment } from "../../../domain/payment/payment";
import type { PaymentEvent } from "../../../domain/payment/events";
import { publicEventsOf } from "../../../application/public-events/public-events-of";
import { publicEventRows, type Traced, type WrittenPublicEventRow } from "../events/public-event-rows";
import { eventPosition, pageOf, readCursor, type Position } from "./cursor";
import { PaymentQueries, type ReviewRow } from "./payment-queries";
import {
  eventRow,
  operationRow,
  paymentRow,
  toDate,
  toDateOrNull,
  toEvent,
  toMs,
  toPayments,
  type JoinedRow,
  type WrittenPaymentRow,
} from "./payment-rows";
import { ConstraintViolationError, type SqlDatabase } from "./sql-database";
import type { EventRow, OperationRow } from "./tables";

/** What one save writes: rows, in the order in which they have to be written. */
export interface PaymentChange {
  readonly payment: WrittenPaymentRow;
  readonly expectedVersion: number | "new";
  readonly operations: readonly (OperationRow & Traced)[];
  readonly events: readonly EventRow[];
  readonly publicEvents: readonly WrittenPublicEventRow[];
  /** Undefined for what nobody decided by hand. */
  readonly entry: AuditEntry | undefined;
}

/** `isDue`, as bounds for columns. */
function dueRange(now: Date) {
  const nowMs = toMs(now);
  return {
    untilMs: nowMs,
    beyondMs: nowMs + BigInt(FARTHEST_DUE_MS),
    touchedAfterMs: nowMs + BigInt(CLOCK_TOLERANCE_MS),
  };
}

/** Before everything else in each order. */
const BEGINNING: Position = { atMs: -1n, id: "" };

/** What the SQL stores have in common: all reads, and what is to be written. How it is written, each knows itself. */
export abstract class SqlPaymentRepository implements PaymentRepository {
  protected readonly queries: PaymentQueries;
  /** Operations as they are stored. They never change in place, so one that is not here has to be written. */
  private readonly stored = new WeakSet<Operation>();

  /** In which trace something is written; null where nothing is traced. */
  currentTrace: (() => string | null) | undefined;

  protected constructor(
    private readonly database: SqlDatabase,
    /** Called when public events have been stored. */
    private readonly onPublished: () => void,
  ) {
    this.queries = new PaymentQueries(database.queries);
  }

  /** Writes all of it or nothing. Resolves with false if the stored version is not the expected one. */
  protected abstract write(change: PaymentChange): Promise<boolean>;

  async find(id: PaymentId): Promise<StoredPayment | null> {
    return this.found(await this.database.rows(this.queries.find.with({ id }))).get(id) ?? null;
  }

  async findByAuthorizeKey(merchant: MerchantId, key: IdempotencyKey): Promise<PaymentId | null> {
    const [row] = await this.database.rows(this.queries.byAuthorizeKey.with({ merchant, key }));
    return row === undefined ? null : (row.payment_id as PaymentId);
  }

  async findByOperation(operationId: OperationId): Promise<PaymentId | null> {
    const [row] = await this.database.rows(this.queries.byOperation.with({ id: operationId }));
    return row === undefined ? null : (row.payment_id as PaymentId);
  }

  async findByAuthorization(reference: string): Promise<PaymentId | null> {
    const [row] = await this.database.rows(this.queries.byAuthorization.with({ reference }));
    return row === undefined ? null : (row.id as PaymentId);
  }

  async findByGatewayReference(reference: string, limit: number): Promise<readonly PaymentId[]> {
    const rows = await this.database.rows(this.queries.byGatewayReference.with({ reference, limit }), "list");
    // One payment may have several movements of this name.
    return [...new Set(rows.map((row) => row.payment_id as PaymentId))];
  }

  async save(payment: Payment, expectedVersion: number | "new", entry?: AuditEntry): Promise<StoredPayment> {
    const version = expectedVersion === "new" ? 1 : expectedVersion + 1;
    const { id, merchant, operations } = payment.facts;
    const changed = operations
      .map((operation, position) => ({ operation, position }))
      .filter(({ operation }) => !this.stored.has(operation))
      // Only one may be open at any instant, also within the transaction: what closes is written first.
      .sort((a, b) => Number(isOpen(a.operation)) - Number(isOpen(b.operation)));
    const trace_context = this.currentTrace?.() ?? null;
    const publicEvents = publicEventRows(publicEventsOf(payment), trace_context);
    let written: boolean;
    try {
      written = await this.write({
        payment: paymentRow(payment, version),
        expectedVersion,
        operations: changed.map(({ operation, position }) => ({
          ...operationRow(operation, merchant, position),
          trace_context,
        })),
        events: payment.newEvents.map((event) => eventRow(event, id)),
        publicEvents,
        entry,
      });
    } catch (error) {
      if (!(error instanceof ConstraintViolationError)) throw error;
      // A payment that is written as new a second time is in its own way, whichever index says so first.
      const itself = expectedVersion === "new" && (await this.find(id)) !== null;
      throw itself ? new VersionConflictError(id, { cause: error }) : refusalOf(payment, error);
    }
    if (!written) throw new VersionConflictError(id);
    if (publicEvents.length > 0) this.onPublished();
    const [saved] = this.remember([restored(payment.facts)]);
    return { payment: saved, version };
  }

  async list(query: PaymentQuery): Promise<Page<Payment>> {
    const after = query.cursor === undefined ? undefined : readCursor(query.cursor);
    const rows = await this.database.rows(this.queries.list(query, after, query.limit + 1), "list");
    return pageOf(this.remember(toPayments(rows)), query.limit, ({ facts }) => ({
      atMs: toMs(facts.createdAt),
      id: facts.id,
    }));
  }

  async events(id: PaymentId): Promise<readonly PaymentEvent[] | null> {
    const rows = await this.database.rows(this.queries.events.with({ id }), "list");
    if (rows.length === 0 && (await this.find(id)) === null) return null;
    return rows.map(toEvent);
  }

  async eventPage(id: PaymentId, { limit, cursor }: EventQuery): Promise<Page<PaymentEvent> | null> {
    const after = cursor === undefined ? 0n : readCursor(cursor).atMs;
    const rows = await this.database.rows(this.queries.eventPage.with({ id, after, limit: limit + 1 }));
    if (rows.length === 0 && (await this.find(id)) === null) return null;
    return pageOf(rows.map(toEvent), limit, eventPosition);
  }

  async dueOperations(now: Date, limit: number, after?: DueOperation): Promise<readonly DueOperation[]> {
    const start = after === undefined ? BEGINNING : { atMs: toMs(after.dueAt), id: after.operationId };
    const rows = await this.database.rows(
      this.queries.due.with({ ...dueRange(now), limit, ...start }),
      "list",
    );
    return rows.map((row) => ({
      paymentId: row.payment_id as PaymentId,
      operationId: row.id as OperationId,
      dueAt: toDate(row.due_at),
    }));
  }

  async lapsedAuthorizations(
    endedBy: Date,
    limit: number,
    after?: LapsedAuthorization,
  ): Promise<readonly LapsedAuthorization[]> {
    const start = after === undefined ? BEGINNING : { atMs: toMs(after.expiresAt), id: after.paymentId };
    const rows = await this.database.rows(
      this.queries.lapsed.with({ untilMs: toMs(endedBy), limit, ...start }),
      "list",
    );
    return rows.map((row) => ({ paymentId: row.id as PaymentId, expiresAt: toDate(row.expires_at) }));
  }

  async operationsInReview({ limit, cursor }: ReviewQuery): Promise<Page<ReviewItem>> {
    const start = cursor === undefined ? BEGINNING : readCursor(cursor);
    const rows = await this.database.rows(this.queries.inReview.with({ limit: limit + 1, ...start }), "list");
    return pageOf(rows.map(toReviewItem), limit, (item) => ({
      atMs: toMs(item.createdAt),
      id: item.operationId,
    }));
  }

  async countInReview(): Promise<number> {
    const [row] = await this.database.rows(this.queries.countInReview.with({}), "list");
    return Number(row?.count ?? 0);
  }

  async unknownOperations(merchant: MerchantId | null, limit: number): Promise<readonly ReviewItem[]> {
    const asked =
      merchant === null
        ? this.queries.unknown.with({ limit })
        : this.queries.unknownOfMerchant.with({ merchant, limit });
    return (await this.database.rows(asked, "list")).map(toReviewItem);
  }

  async unsettled(): Promise<Unsettled> {
    const [row] = await this.database.rows(this.queries.unsettled.with({}), "list");
    return {
      oldestUnknownAt: toDateOrNull(row?.oldest ?? null),
      refusedReleases: Number(row?.refused ?? 0n),
    };
  }

  async ping(): Promise<void> {
    await this.database.rows(this.queries.byOperation.with({ id: "" }));
  }

  protected found(rows: readonly JoinedRow[]): ReadonlyMap<PaymentId, StoredPayment> {
    const versions = new Map(rows.map(({ id, version }) => [id, Number(version)]));
    return new Map(
      this.remember(toPayments(rows)).map((payment) => {
        const { id } = payment.facts;
        return [id, { payment, version: versions.get(id) ?? 0 }];
      }),
    );
  }

  private remember<Payments extends readonly Payment[]>(payments: Payments): Payments {
    for (const { facts } of payments) facts.operations.forEach((operation) => this.stored.add(operation));
    return payments;
  }
}

function toReviewItem(row: ReviewRow): ReviewItem {
  return {
    paymentId: row.payment_id as PaymentId,
    merchant: row.merchant_id as MerchantId,
    operationId: row.id as OperationId,
    kind: row.kind as OperationKind,
    amount: row.amount,
    currency: row.currency,
    createdAt: toDate(row.created_at),
  };
}

function refusalOf({ facts }: Payment, error: ConstraintViolationError): Error {
  const { authorizationReference } = facts;
  if (error.constraint === "one_payment_per_authorization" && authorizationReference !== null) {
    return new DuplicateAuthorizationError(authorizationReference);
  }
  const key = facts.operations.find(({ kind }) => kind === "authorize")?.idempotencyKey;
  return error.constraint === "one_payment_per_authorize_key" && key !== undefined && key !== null
    ? new DuplicateKeyError(facts.merchant, key)
    : new VersionConflictError(facts.id, { cause: error });
}
