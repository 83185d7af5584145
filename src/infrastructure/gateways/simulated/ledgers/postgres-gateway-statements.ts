const ENTRY =
  "gateway_key text, operation_id text, payment_id text, kind text, amount bigint, currency text, " +
  "authorization_reference text, payment_method text, customer_page text, state text, answer text, due_at bigint";
const AUTHORIZATION =
  "reference text, payment_id text, amount bigint, currency text, payment_method text, status text, " +
  "reserved bigint, captured bigint, refunded bigint";
const MOVE = "payment_id text, kind text, gateway_key text, amount bigint, currency text, at bigint";

/** The two statements of works, of one or of many: everything that each looks at, and everything that it writes, or nothing. */
export class PostgresGatewayStatements {
  /** Arrays: $1 payments, $2 keys, $3 operations, $4 authorizations. Answers in their order. */
  readonly fetch: string;
  /**
   * Arrays: $1 payments, each once, $2 the versions that were fetched; entries, authorizations and moves as JSON arrays, each
   * with the payment of its work. Answers with the payments whose work it has written: everything else is joined to the
   * version's row, which only the first of several works gets.
   */
  readonly write: string;

  constructor(schema: string) {
    const waiting = `${schema}.gateway_entries WHERE payment_id = asked.payment AND due_at IS NOT NULL`;
    // As subqueries: a planner that sees how long the arrays are takes a plan for these for much cheaper than the one that it has
    // for any, and makes a new one each time (ADR 0110).
    const asked = ["$1", "$2", "$3", "$4"].map((array) => `(SELECT ${array}::text[])`).join(", ");
    this.fetch = `
      SELECT coalesce((SELECT version FROM ${schema}.gateway_versions WHERE payment_id = asked.payment), 0) AS version,
        (SELECT json_agg(entry) FROM ${schema}.gateway_entries AS entry
         WHERE gateway_key = asked.key OR operation_id = asked.operation
           OR (payment_id = asked.payment AND due_at IS NOT NULL)) AS entries,
        (SELECT json_agg(one) FROM ${schema}.gateway_authorizations AS one
         WHERE reference = ANY (array_append(ARRAY(SELECT authorization_reference FROM ${waiting}), asked.reference)))
          AS authorizations
      FROM unnest(${asked}) WITH ORDINALITY
        AS asked (payment, key, operation, reference, place)
      ORDER BY place`;
    const insert = (table: string, columns: string, rows: string) => {
      const names = columns.replaceAll(/ (?:text|bigint)/g, "");
      return `INSERT INTO ${schema}.${table} (${names})
       SELECT ${names.replaceAll(/\w+/g, "new.$&")}
       FROM next JOIN json_to_recordset(${rows}::json) AS new (work text, ${columns}) ON new.work = next.work`;
    };
    this.write = `
      WITH next AS (
        INSERT INTO ${schema}.gateway_versions AS before (payment_id, version)
        SELECT payment, fetched + 1 FROM unnest($1::text[], $2::bigint[]) AS asked (payment, fetched)
        ON CONFLICT (payment_id) DO UPDATE SET version = excluded.version WHERE before.version = excluded.version - 1
        RETURNING payment_id AS work
      ),
      entries AS (
        ${insert("gateway_entries", ENTRY, "$3")}
        ON CONFLICT (gateway_key) DO UPDATE SET
          state = excluded.state, answer = excluded.answer, due_at = excluded.due_at
      ),
      authorizations AS (
        ${insert("gateway_authorizations", AUTHORIZATION, "$4")}
        ON CONFLICT (reference) DO UPDATE SET status = excluded.status, reserved = excluded.reserved,
          captured = excluded.captured, refunded = excluded.refunded
      ),
      moves AS (
        ${insert("gateway_moves", MOVE, "$5")}
      )
      SELECT work FROM next`;
  }
}
