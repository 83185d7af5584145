import type { SqlDatabase } from "../sql/sql-database";
import type { SqlPaymentRepository } from "../sql/sql-payment-repository";
import type { TraceContexts } from "./trace-contexts";

/** Columns beside the operations and the public events. */
export class SqlTraceContexts implements TraceContexts {
  constructor(
    private readonly database: SqlDatabase,
    private readonly payments: SqlPaymentRepository,
  ) {}

  keep(current: () => string | null): void {
    this.payments.currentTrace = current;
  }

  ofOperation(operationId: string): Promise<string | null> {
    return this.of("operations", operationId);
  }

  ofEvent(eventId: string): Promise<string | null> {
    return this.of("public_events", eventId);
  }

  private async of(table: "operations" | "public_events", id: string): Promise<string | null> {
    const found = this.database.queries.selectFrom(table).select("trace_context").where("id", "=", id);
    const [row] = await this.database.rows(found.compile());
    return row?.trace_context ?? null;
  }
}
