/**
 * In which trace an operation began, and in which an event was told: kept with them, so that another process that goes on with
 * them later can refer to it. Null where nothing was traced.
 */
export interface TraceContexts {
  /** From now on what is written is written with this. */
  keep(current: () => string | null): void;
  ofOperation(operationId: string): Promise<string | null>;
  ofEvent(eventId: string): Promise<string | null>;
}
