import type { IdempotencyKey, PaymentId } from "../../domain/identifiers";
import type { Currency } from "../../domain/money";
import { decideCapture } from "../../domain/payment/decide-movement";
import type { Caller } from "../operations/caller";
import { fingerprint } from "../operations/fingerprint";
import type { OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import { throughGateway, type Movement } from "../operations/through-gateway";
import type { LockProvider } from "../ports/lock-provider";

export interface CapturePaymentCommand {
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
  /** Default: all that is authorized. What is not captured is released. */
  readonly amount?: bigint | undefined;
  readonly currency?: Currency | undefined;
}

/** Takes the money of an authorized payment, once, whatever retries, crashes or races do. */
export class CapturePayment {
  constructor(
    private readonly locks: LockProvider,
    private readonly operations: OperationContext,
  ) {}

  execute(command: CapturePaymentCommand, caller: Caller): Promise<OperationOutcome> {
    const { paymentId, idempotencyKey, amount, currency } = command;
    const asked = fingerprint(["capture", paymentId, amount ?? null, currency ?? null]);
    const request = { idempotencyKey, fingerprint: asked };
    const capture: Movement = {
      kind: "capture",
      paymentId,
      request,
      decide: (payment, step) => decideCapture(payment, request, command, step),
    };
    return throughGateway(this.locks, this.operations, capture, caller);
  }
}
