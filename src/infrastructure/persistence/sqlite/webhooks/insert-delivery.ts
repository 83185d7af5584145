import { sql } from "kysely";
import { PreparedQuery } from "../../sql/prepared-query";
import { newDeliveryColumns, type NewDeliveryRow } from "../../webhooks/webhook-rows";
import { names } from "../../webhooks/webhook-statements";
import type { SqliteDatabase } from "../sqlite-database";

/** Due at once, or when the one before it in its line is. */
export class InsertDelivery {
  private readonly insert: PreparedQuery<NewDeliveryRow, never>;

  constructor(private readonly sqlite: SqliteDatabase) {
    this.insert = new PreparedQuery((arg) => ({
      compile: () =>
        sql<never>`
          INSERT INTO webhook_deliveries (${names(newDeliveryColumns)}, status, attempts, due_at, claimed_until)
          VALUES (${sql.join(newDeliveryColumns.map((column) => sql`${arg(column)}`))}, 'pending', 0,
            coalesce((SELECT max(p.due_at) FROM webhook_deliveries p INDEXED BY webhook_deliveries_in_line
              WHERE p.line = ${arg("line")} AND p.due_at IS NOT NULL AND p.position < ${arg("position")}
                AND (SELECT ordered FROM webhook_endpoints e WHERE e.id = ${arg("endpoint_id")}) = 1), ${arg("created_at")}), 0)
          ON CONFLICT (endpoint_id, event_id) DO NOTHING`.compile(sqlite.queries),
    }));
  }

  /** False where the endpoint has a delivery of this event. Within a transaction. */
  run(row: NewDeliveryRow): boolean {
    return this.sqlite.run(this.insert.with(row)) > 0;
  }
}
