import type { Migration, SqlEngine } from "../../migration";

const types = {
  sqlite: { text: "text", integer: "integer", options: " STRICT" },
  postgres: { text: 'text COLLATE "C"', integer: "bigint", options: "" },
} as const;

export const webhooks: Migration = {
  version: 9,
  name: "webhooks",
  statements: (engine) => [...tables(engine), ...paths, ...generation[engine]],
};

function tables(engine: SqlEngine): readonly string[] {
  const { text, integer, options } = types[engine];
  return [
    `CREATE TABLE webhook_endpoints (
      id ${text} NOT NULL PRIMARY KEY,
      merchant_id ${text} NOT NULL,
      url ${text} NOT NULL,
      types ${text},
      description ${text},
      ordered ${integer} NOT NULL,
      starts_after ${integer} NOT NULL,
      secret ${text} NOT NULL,
      previous_secret ${text},
      previous_until ${integer},
      created_at ${integer} NOT NULL,
      updated_at ${integer} NOT NULL,
      disabled_at ${integer},
      disabled_reason ${text},
      failing_since ${integer},
      failed_at ${integer},
      deleted_at ${integer}
    )${options}`,
    `CREATE TABLE webhook_fan_out (
      id ${integer} NOT NULL PRIMARY KEY CHECK (id = 1),
      position ${integer} NOT NULL,
      generation ${integer} NOT NULL
    )${options}`,
    `INSERT INTO webhook_fan_out (id, position, generation) VALUES (1, 0, 0)`,
    `CREATE TABLE webhook_deliveries (
      id ${text} NOT NULL PRIMARY KEY,
      endpoint_id ${text} NOT NULL REFERENCES webhook_endpoints (id),
      event_id ${text} NOT NULL,
      event_type ${text} NOT NULL,
      event_at ${integer} NOT NULL,
      line ${text} NOT NULL,
      position ${integer} NOT NULL,
      body ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      status ${text} NOT NULL,
      attempts ${integer} NOT NULL,
      due_at ${integer},
      settled_at ${integer},
      attempted_at ${integer},
      attempt_status ${integer},
      attempt_failure ${text},
      attempt_answer ${text},
      attempt_ms ${integer},
      claimed_by ${text},
      claimed_until ${integer} NOT NULL,
      CONSTRAINT due_while_pending CHECK ((status = 'pending') = (due_at IS NOT NULL))
    )${options}`,
  ];
}

/**
 * What is pending is what has a time. Only what is due begins with the endpoint: a server without statistics would else look
 * for due endpoints, or for what is lent of one, among all that was ever delivered.
 */
const paths: readonly string[] = [
  `CREATE INDEX webhook_endpoints_listed ON webhook_endpoints (merchant_id, id) WHERE deleted_at IS NULL`,
  `CREATE UNIQUE INDEX one_webhook_delivery_per_event ON webhook_deliveries (event_id, endpoint_id)`,
  `CREATE INDEX webhook_deliveries_listed ON webhook_deliveries (status, endpoint_id, id)`,
  `CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, due_at, position)
    WHERE due_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_in_line ON webhook_deliveries (line, position)
    WHERE due_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_settled ON webhook_deliveries (settled_at) WHERE settled_at IS NOT NULL`,
  `CREATE INDEX webhook_deliveries_lent ON webhook_deliveries (endpoint_id) WHERE claimed_by IS NOT NULL`,
];

/** Whoever changes an endpoint, by whichever way: a fan-out that has read it before is refused. */
const CHANGED = "UPDATE webhook_fan_out SET generation = generation + 1";
const COLUMNS = "merchant_id, types, starts_after, disabled_at, deleted_at";

const generation: Readonly<Record<SqlEngine, readonly string[]>> = {
  sqlite: [
    `CREATE TRIGGER webhook_endpoint_added AFTER INSERT ON webhook_endpoints BEGIN ${CHANGED}; END`,
    `CREATE TRIGGER webhook_endpoint_changed AFTER UPDATE OF ${COLUMNS} ON webhook_endpoints BEGIN ${CHANGED}; END`,
  ],
  postgres: [
    `CREATE FUNCTION count_webhook_endpoint_change() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN ${CHANGED}; RETURN NULL; END $$`,
    `CREATE TRIGGER webhook_endpoint_added AFTER INSERT ON webhook_endpoints FOR EACH STATEMENT
      EXECUTE FUNCTION count_webhook_endpoint_change()`,
    `CREATE TRIGGER webhook_endpoint_changed AFTER UPDATE OF ${COLUMNS} ON webhook_endpoints FOR EACH ROW
      EXECUTE FUNCTION count_webhook_endpoint_change()`,
  ],
};
