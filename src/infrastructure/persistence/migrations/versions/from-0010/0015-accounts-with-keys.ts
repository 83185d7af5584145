import type { Migration, SqlEngine } from "../../migration";

const types = {
  sqlite: { text: "text", integer: "integer", options: " STRICT" },
  postgres: { text: 'text COLLATE "C"', integer: "bigint", options: "" },
} as const;

/**
 * Which accounts there are beside the common one, with what opens them; and whose each hint is, so that what is told of one
 * account changes nothing of another's. What was told before is of the common account, which is "".
 */
export const accountsWithKeys: Migration = {
  version: 15,
  name: "accounts with keys of their own",
  statements: (engine) => [...accounts(engine), ...positions(engine), ...hints[engine]],
};

/** Accounts in which payments were begun are known, too, whoever has them now. */
function accounts(engine: SqlEngine): readonly string[] {
  const { text, integer, options } = types[engine];
  return [
    `CREATE TABLE gateway_accounts (
      account ${text} NOT NULL PRIMARY KEY,
      sealed_key ${text},
      sealed_webhook_secrets ${text},
      known_since ${integer} NOT NULL
    )${options}`,
    `INSERT INTO gateway_accounts (account, known_since)
      SELECT account, min(since) FROM (
        SELECT account, set_at AS since FROM merchant_accounts
        UNION ALL
        SELECT gateway_account, created_at FROM payments WHERE gateway_account IS NOT NULL
      ) AS there GROUP BY account`,
  ];
}

function positions(engine: SqlEngine): readonly string[] {
  const { text, integer, options } = types[engine];
  return [
    `CREATE TABLE gateway_catch_up_positions (
      account ${text} NOT NULL PRIMARY KEY,
      caught_up_to ${integer} NOT NULL
    )${options}`,
    `INSERT INTO gateway_catch_up_positions (account, caught_up_to)
      SELECT '', caught_up_to FROM gateway_catch_up WHERE caught_up_to IS NOT NULL`,
    `ALTER TABLE gateway_catch_up DROP COLUMN caught_up_to`,
  ];
}

/** SQLite cannot change a primary key: the rows move to a new table. */
const hints: Readonly<Record<SqlEngine, readonly string[]>> = {
  sqlite: [
    `CREATE TABLE gateway_events_seen_by_account (
      account text NOT NULL,
      id text NOT NULL,
      seen_at integer NOT NULL,
      PRIMARY KEY (account, id)
    ) STRICT`,
    `INSERT INTO gateway_events_seen_by_account SELECT '', id, seen_at FROM gateway_events_seen`,
    `DROP TABLE gateway_events_seen`,
    `ALTER TABLE gateway_events_seen_by_account RENAME TO gateway_events_seen`,
    `CREATE INDEX gateway_events_forgotten ON gateway_events_seen (seen_at)`,
    `CREATE TABLE gateway_hints_by_account (
      account text NOT NULL,
      reference text NOT NULL,
      labelled text,
      revision integer NOT NULL,
      received_at integer NOT NULL,
      due_at integer NOT NULL,
      attempts integer NOT NULL,
      claimed_by text,
      claimed_until integer NOT NULL,
      PRIMARY KEY (account, reference)
    ) STRICT`,
    `INSERT INTO gateway_hints_by_account
      SELECT '', reference, labelled, revision, received_at, due_at, attempts, claimed_by, claimed_until FROM gateway_hints`,
    `DROP TABLE gateway_hints`,
    `ALTER TABLE gateway_hints_by_account RENAME TO gateway_hints`,
    `CREATE INDEX gateway_hints_due ON gateway_hints (due_at)`,
    `CREATE INDEX gateway_hints_by_age ON gateway_hints (received_at)`,
  ],
  postgres: ["gateway_events_seen", "gateway_hints"].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN account text COLLATE "C" NOT NULL DEFAULT ''`,
    `ALTER TABLE ${table} ALTER COLUMN account DROP DEFAULT`,
    `ALTER TABLE ${table} DROP CONSTRAINT ${table}_pkey`,
    `ALTER TABLE ${table} ADD PRIMARY KEY (account, ${table === "gateway_hints" ? "reference" : "id"})`,
  ]),
};
