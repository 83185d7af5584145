import { parseOperationId, type IdempotencyKey, type PaymentId } from "../../domain/identifiers";
import type { Currency } from "../../domain/money";
import { fingerprint } from "../operations/fingerprint";
import type { OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import { throughGateway, type Caller } from "../operations/through-gateway";

export interface CapturePaymentCommand {
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
  /** Default: all that is authorized. What is not captured is released. */
  readonly amount?: bigint;
  readonly currency?: Currency;
}

/** Takes the money of an authorized payment, once, whatever retries, crashes or races do. */
export class CapturePayment {
  constructor(private readonly context: OperationContext) {}

  execute(command: CapturePaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const { paymentId, idempotencyKey, amount, currency } = command;
    return throughGateway(
      this.context,
      {
        kind: "capture",
        paymentId,
        idempotencyKey,
        fingerprint: fingerprint(["capture", paymentId, amount ?? null, currency ?? null]),
        decide: (payment, begin, dueAt, step) => {
          const releaseId = parseOperationId(this.context.ids.nextId());
          return payment.decideCapture(begin, command, releaseId, dueAt, step);
        },
      },
      caller,
    );
  }
}
