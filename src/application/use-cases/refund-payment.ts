import type { IdempotencyKey, PaymentId } from "../../domain/identifiers";
import type { Currency } from "../../domain/money";
import { fingerprint } from "../operations/fingerprint";
import type { OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import { throughGateway, type Caller } from "../operations/through-gateway";

export interface RefundPaymentCommand {
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
  /** Default: all that is left of what was captured. */
  readonly amount?: bigint;
  readonly currency?: Currency;
}

/** Gives captured money back, whole or in parts, never more than was captured. */
export class RefundPayment {
  constructor(private readonly context: OperationContext) {}

  execute(command: RefundPaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const { paymentId, idempotencyKey, amount, currency } = command;
    return throughGateway(
      this.context,
      {
        kind: "refund",
        paymentId,
        idempotencyKey,
        fingerprint: fingerprint(["refund", paymentId, amount ?? null, currency ?? null]),
        decide: (payment, begin, dueAt, step) => payment.decideRefund(begin, command, dueAt, step),
      },
      caller,
    );
  }
}
