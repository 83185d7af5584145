import type { Migration, SqlEngine } from "../../migration";

const types = {
  sqlite: { text: "text", integer: "integer", options: " STRICT" },
  postgres: { text: 'text COLLATE "C"', integer: "bigint", options: "" },
} as const;

/** Of which authorizations the gateway may have news, which of its events are known, and how far its list was read. */
export const gatewayHints: Migration = {
  version: 11,
  name: "gateway hints",
  statements: (engine) => [...tables(engine), ...paths],
};

function tables(engine: SqlEngine): readonly string[] {
  const { text, integer, options } = types[engine];
  return [
    `CREATE TABLE gateway_events_seen (
      id ${text} NOT NULL PRIMARY KEY,
      seen_at ${integer} NOT NULL
    )${options}`,
    `CREATE TABLE gateway_hints (
      reference ${text} NOT NULL PRIMARY KEY,
      labelled ${text},
      revision ${integer} NOT NULL,
      received_at ${integer} NOT NULL,
      due_at ${integer} NOT NULL,
      attempts ${integer} NOT NULL,
      claimed_by ${text},
      claimed_until ${integer} NOT NULL
    )${options}`,
    `CREATE TABLE gateway_catch_up (
      id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      caught_up_to ${integer},
      begun_at ${integer} NOT NULL
    )${options}`,
    `INSERT INTO gateway_catch_up (id, caught_up_to, begun_at) VALUES (1, NULL, 0)`,
  ];
}

const paths: readonly string[] = [
  `CREATE INDEX gateway_events_forgotten ON gateway_events_seen (seen_at)`,
  `CREATE INDEX gateway_hints_due ON gateway_hints (due_at)`,
  `CREATE INDEX gateway_hints_by_age ON gateway_hints (received_at)`,
];
