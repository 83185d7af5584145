/** The two statements of a work: everything it looks at, as one instant has it, and everything it writes, or nothing. */
export class PostgresGatewayStatements {
  /** $1 payment, $2 key, $3 operation, $4 authorization. */
  readonly fetch: string;
  /**
   * $1 payment, $2 the version that was fetched; entries, authorizations and moves as JSON arrays. Answers with a row if
   * it has written: everything else is joined to the version's row, which only the first of several works gets.
   */
  readonly write: string;

  constructor(schema: string) {
    const waiting = `${schema}.gateway_entries WHERE payment_id = $1 AND due_at IS NOT NULL`;
    this.fetch = `
      SELECT coalesce((SELECT version FROM ${schema}.gateway_versions WHERE payment_id = $1), 0) AS version,
        (SELECT json_agg(entry) FROM ${schema}.gateway_entries AS entry
         WHERE gateway_key = $2 OR operation_id = $3 OR (payment_id = $1 AND due_at IS NOT NULL)) AS entries,
        (SELECT json_agg(one) FROM ${schema}.gateway_authorizations AS one
         WHERE reference = ANY (array_append(ARRAY(SELECT authorization_reference FROM ${waiting}), $4)))
          AS authorizations`;
    const insert = (table: string, columns: string, rows: string) =>
      `INSERT INTO ${schema}.${table} (${columns})
       SELECT ${columns.replaceAll(/\w+/g, "new.$&")}
       FROM next CROSS JOIN json_populate_recordset(NULL::${schema}.${table}, ${rows}::json) AS new`;
    this.write = `
      WITH next AS (
        INSERT INTO ${schema}.gateway_versions AS before (payment_id, version) VALUES ($1, $2::bigint + 1)
        ON CONFLICT (payment_id) DO UPDATE SET version = excluded.version WHERE before.version = $2
        RETURNING version
      ),
      entries AS (
        ${insert("gateway_entries", "gateway_key, operation_id, payment_id, kind, amount, currency, authorization_reference, payment_method, state, answer, due_at", "$3")}
        ON CONFLICT (gateway_key) DO UPDATE SET
          state = excluded.state, answer = excluded.answer, due_at = excluded.due_at
      ),
      authorizations AS (
        ${insert("gateway_authorizations", "reference, payment_id, amount, currency, payment_method, status, reserved, captured, refunded", "$4")}
        ON CONFLICT (reference) DO UPDATE SET status = excluded.status, reserved = excluded.reserved,
          captured = excluded.captured, refunded = excluded.refunded
      ),
      moves AS (
        ${insert("gateway_moves", "payment_id, kind, gateway_key, amount, currency, at", "$5")}
      )
      SELECT version FROM next`;
  }
}
