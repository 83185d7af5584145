import type { Generated, Selectable } from "kysely";
import type { AuditTables } from "../audit/audit-rows";
import type { HintTables } from "../gateway-events/hint-tables";
import type { WebhookTables } from "../webhooks/webhook-tables";

/**
 * The rows of both SQL stores. Whole numbers are bigint on both, times are milliseconds since 1970, JSON is text:
 * so the same query compares and sorts the same way in SQLite and PostgreSQL.
 */
export interface Tables extends WebhookTables, HintTables, AuditTables {
  payments: PaymentTable;
  operations: OperationTable;
  events: EventTable;
  public_events: PublicEventTable;
  api_keys: ApiKeyTable;
  console_sessions: ConsoleSessionTable;
  merchant_accounts: MerchantAccountTable;
  gateway_accounts: GatewayAccountTable;
  schema_migrations: { version: bigint; applied_at: bigint };
}

export interface PaymentTable {
  id: string;
  merchant_id: string;
  version: bigint;
  status: string;
  /** What callers see, `capturing` and the like included: written for lists to filter by, never read back. */
  visible_status: string;
  authorized: bigint;
  currency: string;
  /** How many digits of the amounts stand behind the decimal point; null if nobody knows. */
  currency_exponent: bigint | null;
  /** Sum of the succeeded operations, kept by triggers and never written from here. */
  captured: Generated<bigint>;
  refunded: Generated<bigint>;
  payment_method: string;
  return_url: string | null;
  reference: string | null;
  metadata: string;
  /** Null: the common one. */
  gateway_account: string | null;
  authorization_reference: string | null;
  /** While the customer has to act. */
  action_url: string | null;
  created_at: bigint;
  authorized_at: bigint | null;
  expires_at: bigint;
  updated_at: bigint;
  event_count: bigint;
  /** A JSON array. */
  disputes: string;
}

export interface OperationTable {
  id: string;
  payment_id: string;
  merchant_id: string;
  /** 0, 1, 2, … in the order in which the payment's operations began. */
  position: bigint;
  kind: string;
  origin: string;
  idempotency_key: string | null;
  fingerprint: string;
  amount: bigint;
  n: bigint;
  status: string;
  failure_code: string | null;
  failure_reason: string | null;
  gateway_reference: string | null;
  attempts: bigint;
  conflicted: bigint;
  created_at: bigint;
  first_sent_at: bigint | null;
  asked_at: bigint | null;
  due_at: bigint | null;
  decides_by: bigint | null;
  settled_at: bigint | null;
  settled_sequence: bigint | null;
  corrected_sequence: bigint | null;
  /** In which trace it began; written with its first row, and never read into a payment. */
  trace_context: Generated<string | null>;
}

export interface EventTable {
  id: string;
  payment_id: string;
  sequence: bigint;
  type: string;
  at: bigint;
  data: string;
}

export interface PublicEventTable {
  /** Of its row in the feed's order. In PostgreSQL given later, and read only once it is. */
  position: Generated<bigint>;
  id: string;
  payment_id: string | null;
  merchant_id: string;
  type: string;
  at: bigint;
  sequence: bigint | null;
  content: string;
  /** In which trace it was told. */
  trace_context: Generated<string | null>;
}

export interface ApiKeyTable {
  id: string;
  merchant_id: string;
  operator: bigint;
  name: string | null;
  prefix: string;
  secret_hash: string;
  created_at: bigint;
  revoked_at: bigint | null;
  last_used_at: bigint | null;
}

/** Who is signed in to the console, by the hash of what their browser keeps. */
export interface ConsoleSessionTable {
  id_hash: string;
  key_id: string;
  created_at: bigint;
  expires_at: bigint;
}

export interface MerchantAccountTable {
  merchant_id: string;
  account: string;
  set_at: bigint;
}

/** Each account that a merchant has had, until it is forgotten. */
export interface GatewayAccountTable {
  account: string;
  sealed_key: string | null;
  sealed_webhook_secrets: string | null;
  known_since: bigint;
}

export type PaymentRow = Selectable<PaymentTable>;
export type OperationRow = Omit<Selectable<OperationTable>, "trace_context">;
export type EventRow = Selectable<EventTable>;
export type PublicEventRow = Omit<Selectable<PublicEventTable>, "trace_context">;
export type ApiKeyRow = Selectable<ApiKeyTable>;
