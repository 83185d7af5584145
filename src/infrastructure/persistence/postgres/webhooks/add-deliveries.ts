import { sql, type RawBuilder } from "kysely";
import { newDeliveryColumns } from "../../webhooks/webhook-rows";
import { names } from "../../webhooks/webhook-statements";

/** Of the database, in milliseconds: instances need not agree about the time. */
export const clock = sql`(extract(epoch FROM statement_timestamp()) * 1000)::bigint`;

/** From a JSON array of rows; each due at once, or when the one before it in its line is. */
export function addDeliveries(deliveries: string, joined: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`INSERT INTO webhook_deliveries (${names(newDeliveryColumns)}, status, attempts, due_at, claimed_until)
    SELECT ${names(newDeliveryColumns, "n")}, 'pending', 0,
      coalesce((SELECT max(p.due_at) FROM webhook_deliveries p
        WHERE p.line = n.line AND p.due_at IS NOT NULL AND p.position < n.position
          AND (SELECT ordered FROM webhook_endpoints e WHERE e.id = n.endpoint_id) = 1), n.created_at), 0
    FROM json_populate_recordset(NULL::webhook_deliveries, ${deliveries}::json) AS n ${joined}`;
}
