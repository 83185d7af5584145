import type { Migration, SqlEngine } from "../../migration";

const types = {
  sqlite: { text: "text", integer: "integer", options: " STRICT" },
  postgres: { text: 'text COLLATE "C"', integer: "bigint", options: "" },
} as const;

const NEVER_CHANGED = "an entry of the audit is never changed or dropped";

/** What people did by hand. No foreign keys: an entry outlives what it tells of. */
export const audit: Migration = {
  version: 17,
  name: "audit",
  statements: (engine) => [table(engine), ...paths, ...guards[engine]],
};

function table(engine: SqlEngine): string {
  const { text, integer, options } = types[engine];
  return `CREATE TABLE audit_entries (
      id ${text} NOT NULL PRIMARY KEY,
      at ${integer} NOT NULL,
      kind ${text} NOT NULL,
      actor_type ${text} NOT NULL,
      actor ${text},
      origin ${text} NOT NULL,
      place ${text},
      request_id ${text},
      reason ${text},
      subject ${text} NOT NULL,
      merchant_id ${text},
      payment_id ${text},
      details ${text} NOT NULL
    )${options}`;
}

const paths: readonly string[] = [
  `CREATE INDEX audit_entries_by_time ON audit_entries (at, id)`,
  `CREATE INDEX audit_entries_by_actor ON audit_entries (actor, at, id)`,
  `CREATE INDEX audit_entries_by_kind ON audit_entries (kind, at, id)`,
  `CREATE INDEX audit_entries_of_payment ON audit_entries (payment_id, at, id) WHERE payment_id IS NOT NULL`,
];

const guards: Readonly<Record<SqlEngine, readonly string[]>> = {
  sqlite: ["UPDATE", "DELETE"].map(
    (change) => `CREATE TRIGGER audit_entries_not_${change.toLowerCase()}d BEFORE ${change} ON audit_entries
      BEGIN SELECT RAISE(ABORT, '${NEVER_CHANGED}'); END`,
  ),
  postgres: [
    `CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION '${NEVER_CHANGED}'; END $$`,
    `CREATE TRIGGER audit_entries_not_changed BEFORE UPDATE OR DELETE ON audit_entries FOR EACH ROW
      EXECUTE FUNCTION refuse_audit_change()`,
    `CREATE TRIGGER audit_entries_not_truncated BEFORE TRUNCATE ON audit_entries FOR EACH STATEMENT
      EXECUTE FUNCTION refuse_audit_change()`,
  ],
};
