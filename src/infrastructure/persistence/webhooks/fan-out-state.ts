import type { FanOutState } from "../../../application/ports/events/webhook-fan-out-store";
import { PreparedQuery } from "../sql/prepared-query";
import type { SqlDatabase } from "../sql/sql-database";

/** How far the fan-out has come: one row. */
export function fanOutState(database: SqlDatabase): () => Promise<FanOutState> {
  const state = new PreparedQuery(() =>
    database.queries.selectFrom("webhook_fan_out").select(["position", "generation"]),
  );
  return async () => {
    const [row] = await database.rows(state.with({}));
    if (row === undefined) throw new Error("the state of the fan-out is one row");
    return { position: Number(row.position), generation: Number(row.generation) };
  };
}
