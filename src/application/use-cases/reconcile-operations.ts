import type { PaymentId } from "../../domain/identifiers";
import { isOpen } from "../../domain/operation";
import { PASS_PAGE, PASS_PARALLELISM, PassCounter, type PassReport } from "../operations/background-pass";
import { inParallel } from "../operations/in-parallel";
import { lockTrace, type OperationContext } from "../operations/operation-context";
import { resolveOperation } from "../operations/resolve-operation";
import type { DueOperation } from "../ports/payment-repository";

/** Finishes what crashes, timeouts and lost answers left open: asks the gateway about each operation that is due. */
export class ReconcileOperations {
  constructor(
    private readonly context: OperationContext,
    private readonly onError: (error: unknown, paymentId: PaymentId) => void,
  ) {}

  async execute(signal?: AbortSignal): Promise<PassReport> {
    const { payments, clock, locks } = this.context;
    const counter = new PassCounter(locks, "reconcile", this.onError);
    const startedAt = clock.now();
    let after: DueOperation | undefined;
    do {
      const due = await payments.dueOperations(startedAt, PASS_PAGE, after);
      await inParallel(due, PASS_PARALLELISM, async (item) => {
        if (signal?.aborted !== true) await this.resolve(item, counter);
      });
      after = due.length === PASS_PAGE ? due.at(-1) : undefined;
    } while (after !== undefined && signal?.aborted !== true);
    return counter.report();
  }

  private resolve({ paymentId, operationId }: DueOperation, counter: PassCounter): Promise<void> {
    return counter.attempt(paymentId, async (hold) => {
      const stored = await this.context.payments.find(paymentId);
      const operation = stored?.payment.operation(operationId);
      if (stored === null || operation === undefined || !isOpen(operation)) return false;
      const trace = { by: { reconciler: true }, ...lockTrace(hold) };
      const { by } = await resolveOperation(this.context, stored, operationId, hold, trace);
      return by !== "row";
    });
  }
}
