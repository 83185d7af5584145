import { SpanKind, SpanStatusCode, type Tracer } from "@opentelemetry/api";
import type { PaymentRepository } from "../../../application/ports/payment-repository";
import type { TraceContexts } from "../../persistence/traces/trace-contexts";
import { nameOfSave, operationsIn } from "./span-names";
import { currentTrace, linksTo } from "./trace-context";

/** As the semantic conventions for databases name them. */
export type DatabaseSystem = "sqlite" | "postgresql" | "memory";

/** Operations that began here, so that the store need not be asked where almost all of them end. */
const MAX_BEGUN_HERE = 10_000;

/** Makes each save of this repository a span; one that settles what began in another trace refers to that. */
export function tracePayments(
  payments: PaymentRepository,
  contexts: TraceContexts,
  system: DatabaseSystem,
  tracer: Tracer,
): void {
  const save = payments.save.bind(payments);
  const begun = new Map<string, string>();
  const remember = (operationId: string, current: string): void => {
    const [oldest] = begun.keys();
    if (begun.size >= MAX_BEGUN_HERE && oldest !== undefined) begun.delete(oldest);
    begun.set(operationId, current);
  };
  const contextOf = async (operationId: string) =>
    // A store that fails says so when it is written to.
    begun.get(operationId) ?? (await contexts.ofOperation(operationId).catch(() => null));

  payments.save = async (payment, expectedVersion, entry) => {
    const current = currentTrace();
    if (current === null) return save(payment, expectedVersion, entry);
    const name = nameOfSave(payment.newEvents);
    const operations = operationsIn(payment.newEvents);
    if (name === "intent") for (const id of operations) remember(id, current);
    const kept = name === "intent" ? [] : await Promise.all(operations.map(contextOf));
    const attributes = {
      "db.system.name": system,
      "db.operation.name": "save",
      "holdfast.payment.id": payment.facts.id,
    };
    const options = { kind: SpanKind.CLIENT, links: linksTo(kept), attributes };
    return tracer.startActiveSpan(name, options, async (span) => {
      try {
        return await save(payment, expectedVersion, entry);
      } catch (error) {
        span.setStatus({ code: SpanStatusCode.ERROR });
        throw error;
      } finally {
        span.end();
      }
    });
  };
}
