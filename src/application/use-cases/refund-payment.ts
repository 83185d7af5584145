import type { IdempotencyKey, PaymentId } from "../../domain/identifiers";
import type { Currency } from "../../domain/money";
import { decideRefund } from "../../domain/payment/decide-movement";
import type { Caller } from "../operations/caller";
import { fingerprint } from "../operations/fingerprint";
import type { OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import { throughGateway, type Movement } from "../operations/through-gateway";
import type { LockProvider } from "../ports/lock-provider";

export interface RefundPaymentCommand {
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
  /** Default: all that is left of what was captured. */
  readonly amount?: bigint | undefined;
  readonly currency?: Currency | undefined;
}

/** Gives captured money back, whole or in parts, never more than was captured. */
export class RefundPayment {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
  ) {}

  execute(command: RefundPaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const { paymentId, idempotencyKey, amount, currency } = command;
    const asked = fingerprint(["refund", paymentId, amount ?? null, currency ?? null]);
    const request = { idempotencyKey, fingerprint: asked };
    const refund: Movement = {
      kind: "refund",
      paymentId,
      request,
      decide: (payment, step) => decideRefund(payment, request, command, step),
    };
    return throughGateway(this.locks, this.operations, refund, caller);
  }
}
