import type { Migration, SqlEngine } from "../../migration";

/** PostgreSQL would else sort text by the rules of a language, SQLite by bytes. */
const types = {
  sqlite: { text: "text", integer: "integer", options: " STRICT" },
  postgres: { text: 'text COLLATE "C"', integer: "bigint", options: "" },
} as const;

export const initialSchema: Migration = {
  version: 1,
  name: "initial schema",
  statements: (engine) => [
    ...tables(engine),
    ...guards,
    ...paths,
    ...(engine === "sqlite" ? sqliteTriggers : postgresTriggers),
  ],
};

function tables(engine: SqlEngine): readonly string[] {
  const { text, integer, options } = types[engine];
  return [
    `CREATE TABLE payments (
      id ${text} NOT NULL PRIMARY KEY,
      merchant_id ${text} NOT NULL,
      version ${integer} NOT NULL,
      status ${text} NOT NULL,
      visible_status ${text} NOT NULL,
      authorized ${integer} NOT NULL,
      currency ${text} NOT NULL,
      captured ${integer} NOT NULL DEFAULT 0,
      refunded ${integer} NOT NULL DEFAULT 0,
      payment_method ${text} NOT NULL,
      reference ${text},
      metadata ${text} NOT NULL,
      authorization_reference ${text},
      created_at ${integer} NOT NULL,
      authorized_at ${integer},
      expires_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL,
      event_count ${integer} NOT NULL,
      CONSTRAINT captured_within_authorized CHECK (captured <= authorized),
      CONSTRAINT refunded_within_captured CHECK (refunded <= captured)
    )${options}`,
    `CREATE TABLE operations (
      id ${text} NOT NULL PRIMARY KEY,
      payment_id ${text} NOT NULL REFERENCES payments (id),
      merchant_id ${text} NOT NULL,
      position ${integer} NOT NULL,
      kind ${text} NOT NULL,
      idempotency_key ${text},
      fingerprint ${text} NOT NULL,
      amount ${integer} NOT NULL CHECK (amount > 0),
      n ${integer} NOT NULL,
      status ${text} NOT NULL,
      failure_code ${text},
      failure_reason ${text},
      gateway_reference ${text},
      attempts ${integer} NOT NULL,
      conflicted ${integer} NOT NULL,
      created_at ${integer} NOT NULL,
      first_sent_at ${integer},
      asked_at ${integer},
      due_at ${integer},
      settled_at ${integer}
    )${options}`,
    `CREATE TABLE events (
      id ${text} NOT NULL PRIMARY KEY,
      payment_id ${text} NOT NULL REFERENCES payments (id),
      sequence ${integer} NOT NULL,
      type ${text} NOT NULL,
      at ${integer} NOT NULL,
      data ${text} NOT NULL
    )${options}`,
    `CREATE TABLE api_keys (
      id ${text} NOT NULL PRIMARY KEY,
      merchant_id ${text} NOT NULL,
      operator ${integer} NOT NULL,
      name ${text},
      prefix ${text} NOT NULL,
      secret_hash ${text} NOT NULL UNIQUE,
      created_at ${integer} NOT NULL,
      revoked_at ${integer}
    )${options}`,
  ];
}

/** Each holds by itself, whatever the program above believes. */
const guards: readonly string[] = [
  `CREATE UNIQUE INDEX one_open_operation ON operations (payment_id)
    WHERE status IN ('started', 'unknown', 'needs_review')`,
  `CREATE UNIQUE INDEX one_succeeded_capture ON operations (payment_id)
    WHERE kind = 'capture' AND status = 'succeeded'`,
  `CREATE UNIQUE INDEX one_operation_per_key ON operations (payment_id, kind, idempotency_key)`,
  `CREATE UNIQUE INDEX one_payment_per_authorize_key ON operations (merchant_id, idempotency_key)
    WHERE kind = 'authorize'`,
  `CREATE UNIQUE INDEX one_event_per_sequence ON events (payment_id, sequence)`,
];

/** One for each question that is asked of many payments. */
const paths: readonly string[] = [
  `CREATE INDEX operations_of_payment ON operations (payment_id, position)`,
  `CREATE INDEX operations_due ON operations (due_at, id) WHERE due_at IS NOT NULL`,
  `CREATE INDEX operations_in_review ON operations (created_at, id) 
    WHERE (status = 'needs_review' OR conflicted = 1)`,
  `CREATE INDEX payments_listed ON payments (merchant_id, created_at DESC, id DESC)`,
  `CREATE INDEX payments_by_status ON payments (merchant_id, visible_status, created_at DESC, id DESC)`,
  `CREATE INDEX payments_by_reference ON payments (merchant_id, reference, created_at DESC, id DESC)
    WHERE reference IS NOT NULL`,
  `CREATE INDEX payments_lapsing ON payments (expires_at, id) WHERE status = 'authorized'`,
];

const sumOf = (kind: string) =>
  `(SELECT coalesce(sum(amount), 0) FROM operations
    WHERE payment_id = NEW.payment_id AND kind = '${kind}' AND status = 'succeeded')`;

const writeTotals = `UPDATE payments SET captured = ${sumOf("capture")}, refunded = ${sumOf("refund")}
  WHERE id = NEW.payment_id`;

const NEVER_CHANGED = "an event is never changed or dropped";

const sqliteTriggers: readonly string[] = [
  `CREATE TRIGGER totals_after_insert AFTER INSERT ON operations WHEN NEW.status = 'succeeded'
    BEGIN ${writeTotals}; END`,
  `CREATE TRIGGER totals_after_update AFTER UPDATE ON operations
    WHEN NEW.status = 'succeeded' OR OLD.status = 'succeeded'
    BEGIN ${writeTotals}; END`,
  `CREATE TRIGGER events_not_updated BEFORE UPDATE ON events
    BEGIN SELECT RAISE(ABORT, '${NEVER_CHANGED}'); END`,
  `CREATE TRIGGER events_not_deleted BEFORE DELETE ON events
    BEGIN SELECT RAISE(ABORT, '${NEVER_CHANGED}'); END`,
];

/** A function's statements see what was committed up to their own beginning, and the payment's row is locked by then. */
const postgresTriggers: readonly string[] = [
  `CREATE FUNCTION write_payment_totals() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN ${writeTotals}; RETURN NULL; END $$`,
  `CREATE TRIGGER totals_after_insert AFTER INSERT ON operations FOR EACH ROW
    WHEN (NEW.status = 'succeeded') EXECUTE FUNCTION write_payment_totals()`,
  `CREATE TRIGGER totals_after_update AFTER UPDATE ON operations FOR EACH ROW
    WHEN (NEW.status = 'succeeded' OR OLD.status = 'succeeded') EXECUTE FUNCTION write_payment_totals()`,
  `CREATE FUNCTION refuse_event_change() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN RAISE EXCEPTION '${NEVER_CHANGED}'; END $$`,
  `CREATE TRIGGER events_not_changed BEFORE UPDATE OR DELETE ON events FOR EACH ROW
    EXECUTE FUNCTION refuse_event_change()`,
  `CREATE TRIGGER events_not_truncated BEFORE TRUNCATE ON events FOR EACH STATEMENT
    EXECUTE FUNCTION refuse_event_change()`,
];
