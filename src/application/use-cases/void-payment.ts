import type { IdempotencyKey, PaymentId } from "../../domain/identifiers";
import { decideVoid } from "../../domain/payment/decide-movement";
import type { Caller } from "../operations/caller";
import { fingerprint } from "../operations/fingerprint";
import type { OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import { throughGateway, type Movement } from "../operations/through-gateway";
import type { LockProvider } from "../ports/lock-provider";

export interface VoidPaymentCommand {
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
}

/** Lets the reserved money of an authorized payment go, before its time is over. */
export class VoidPayment {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
  ) {}

  execute({ paymentId, idempotencyKey }: VoidPaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const request = { idempotencyKey, fingerprint: fingerprint(["void", paymentId]) };
    const voiding: Movement = {
      kind: "void",
      paymentId,
      request,
      decide: (payment, step) => decideVoid(payment, request, step),
    };
    return throughGateway(this.locks, this.operations, voiding, caller);
  }
}
