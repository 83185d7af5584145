import type { IdempotencyKey, MerchantId, OperationId, PaymentId } from "../../domain/identifiers";
import type { OperationKind } from "../../domain/payment/operation";
import type { Payment } from "../../domain/payment/payment";
import type { PaymentEvent } from "../../domain/payment/events";
import type { AuditEntry } from "./audit/audit-trail";

/**
 * Keeps payments with their operations and events. Every adapter MUST
 * - write a payment, its operations and its new events, and the entry of who decided so, in one transaction, or nothing of it;
 * - change a payment only if its stored version is the expected one, else reject with `VersionConflictError`;
 * - independently of that, refuse (also as `VersionConflictError`): a second open operation of a payment, a second
 *   succeeded capture, a second operation with the same payment, kind and key, captured above authorized and refunded
 *   above captured, the totals being the sums of the stored operations;
 * - refuse a new payment whose merchant and authorize key are taken with `DuplicateKeyError`;
 * - refuse a payment whose authorization at the gateway is another payment's, whoever's, with `DuplicateAuthorizationError`;
 * - never change what an operation is bound to (`OperationBond`), and write all of what becomes of it;
 * - never change or drop an event;
 * - have made durable what it acknowledged;
 * - reject with `StoreUnavailableError` when it cannot tell or cannot write, with nothing half-written; its `outcome` is
 *   `unknown` if what was being written is stored, or may still come to be, and `none` for whatever only reads;
 * - answer or reject in time, whatever is behind it: a write within `budgets.savesMs`, a read of one payment within
 *   `budgets.readMs`, a list within `budgets.listMs`.
 */
export interface PaymentRepository {
  find(id: PaymentId): Promise<StoredPayment | null>;
  findByAuthorizeKey(merchant: MerchantId, key: IdempotencyKey): Promise<PaymentId | null>;
  findByOperation(operationId: OperationId): Promise<PaymentId | null>;
  /** The payment whose authorization the gateway calls so. */
  findByAuthorization(reference: string): Promise<PaymentId | null>;
  /** Payments of which the gateway calls the authorization or a movement so, `limit` of them at most. */
  findByGatewayReference(reference: string, limit: number): Promise<readonly PaymentId[]>;
  /** Resolves with what is stored now: the next version, and no events waiting. */
  save(payment: Payment, expectedVersion: number | "new", entry?: AuditEntry): Promise<StoredPayment>;

  list(query: PaymentQuery): Promise<Page<Payment>>;
  /** In order. Null for an unknown payment. */
  events(id: PaymentId): Promise<readonly PaymentEvent[] | null>;
  /** The same, page by page. */
  eventPage(id: PaymentId, query: EventQuery): Promise<Page<PaymentEvent> | null>;

  /** Open operations that are due (`isDue`; no other one has a time), by their time, after the given one. */
  dueOperations(now: Date, limit: number, after?: DueOperation): Promise<readonly DueOperation[]>;
  /** Payments with no open operation whose authorization had ended then (`isLapsed`), sent or not, oldest first. */
  lapsedAuthorizations(
    endedBy: Date,
    limit: number,
    after?: LapsedAuthorization,
  ): Promise<readonly LapsedAuthorization[]>;
  /** Operations that are `needs_review` or contradicted, oldest first. */
  operationsInReview(query: ReviewQuery): Promise<Page<ReviewItem>>;
  countInReview(): Promise<number>;
  /** Operations that are `unknown`, of one merchant or of all, oldest first. */
  unknownOperations(merchant: MerchantId | null, limit: number): Promise<readonly ReviewItem[]>;
  /** What nobody has settled yet, for those who watch over it. */
  unsettled(): Promise<Unsettled>;

  /**
   * Resolves when the store answers and takes writes; else rejects with `StoreUnavailableError`. Tries a write of its own
   * where no real one has just shown it, at most once a second however often it is asked.
   */
  ping(): Promise<void>;
}

export interface Unsettled {
  /** When the oldest of those began whose outcome is not known; null if there is none. Refused releases do not count. */
  readonly oldestUnknownAt: Date | null;
  /** Releases that the gateway has refused at least once, and that are tried again. */
  readonly refusedReleases: number;
}

export interface StoredPayment {
  readonly payment: Payment;
  readonly version: number;
}

export interface DueOperation {
  readonly paymentId: PaymentId;
  readonly operationId: OperationId;
  readonly dueAt: Date;
}

export interface LapsedAuthorization {
  readonly paymentId: PaymentId;
  readonly expiresAt: Date;
}

export interface ReviewItem {
  readonly paymentId: PaymentId;
  readonly merchant: MerchantId;
  readonly operationId: OperationId;
  readonly kind: OperationKind;
  readonly amount: bigint;
  readonly currency: string;
  readonly createdAt: Date;
}

export interface EventQuery {
  readonly limit: number;
  readonly cursor?: string;
}

export interface ReviewQuery {
  readonly limit: number;
  readonly cursor?: string;
}

/** Newest first. `status` is what callers see, `capturing` and the like included. */
export interface PaymentQuery {
  /** Null: of all merchants. */
  readonly merchant: MerchantId | null;
  readonly limit: number;
  readonly cursor?: string;
  readonly status?: string;
  readonly reference?: string;
  /** What was authorized, exactly. */
  readonly amount?: { readonly amount: bigint; readonly currency: string };
  /** Inclusive. */
  readonly createdFrom?: Date;
  /** Exclusive. */
  readonly createdTo?: Date;
}

export interface Page<T> {
  readonly data: readonly T[];
  /** Opaque; null on the last page. */
  readonly nextCursor: string | null;
}

/** Somebody else has written this payment since it was read. */
export class VersionConflictError extends Error {
  override readonly name = "VersionConflictError";
  readonly code = "version_conflict";

  constructor(
    readonly paymentId: PaymentId,
    options?: ErrorOptions,
  ) {
    super(`payment ${paymentId} has been changed by another writer`, options);
  }
}

/** Another payment of this merchant was started with this key. */
export class DuplicateKeyError extends Error {
  override readonly name = "DuplicateKeyError";
  readonly code = "duplicate_key";

  constructor(
    readonly merchant: MerchantId,
    readonly key: IdempotencyKey,
  ) {
    super(`merchant ${merchant} has used this idempotency key for another payment`);
  }
}

/** The gateway's authorization belongs to another payment: two payments would capture the same money twice. */
export class DuplicateAuthorizationError extends Error {
  override readonly name = "DuplicateAuthorizationError";
  readonly code = "duplicate_authorization";

  constructor(readonly authorizationReference: string) {
    super(`the authorization ${authorizationReference} belongs to another payment`);
  }
}

/** The cursor of a list is not one that this store made. */
export class InvalidCursorError extends Error {
  override readonly name = "InvalidCursorError";
  readonly code = "invalid_cursor";
}

/** What keeps a store from its work, as far as it says so itself. */
export type StoreTrouble =
  "no_answer" | "full" | "read_only" | "disk_error" | "damaged" | "replaced" | "log_lost";

export interface UnavailableOptions extends ErrorOptions {
  readonly reason?: StoreTrouble;
  readonly outcome?: "none" | "unknown";
}

/**
 * The store does not answer. What was being written is there whole, or not at all; where `outcome` is `unknown`, even
 * reading it again does not tell: it may be on its way. Only a write that its arrival would have refused does.
 */
export class StoreUnavailableError extends Error {
  override readonly name = "StoreUnavailableError";
  readonly code = "service_unavailable";
  readonly reason: StoreTrouble;
  /** `none`: certainly nothing was written, and nothing will be. */
  readonly outcome: "none" | "unknown";

  constructor(
    message: string,
    { reason = "no_answer", outcome = "none", ...options }: UnavailableOptions = {},
  ) {
    super(message, options);
    this.reason = reason;
    this.outcome = outcome;
  }
}

/** The same failure, of a write that may be stored nevertheless. */
export function outcomeUnknown(failure: Error): StoreUnavailableError {
  const reason = failure instanceof StoreUnavailableError ? failure.reason : "no_answer";
  return new StoreUnavailableError(failure.message, { cause: failure, reason, outcome: "unknown" });
}
