import { parseOperationId, type IdempotencyKey, type PaymentId } from "../../domain/identifiers";
import { fingerprint } from "../operations/fingerprint";
import type { OperationContext } from "../operations/operation-context";
import type { OperationOutcome } from "../operations/operation-outcome";
import { throughGateway, type Caller } from "../operations/through-gateway";

export interface VoidPaymentCommand {
  readonly paymentId: PaymentId;
  readonly idempotencyKey: IdempotencyKey;
}

/** Lets the reserved money of an authorized payment go, before its time is over. */
export class VoidPayment {
  constructor(private readonly context: OperationContext) {}

  execute({ paymentId, idempotencyKey }: VoidPaymentCommand, caller: Caller): Promise<OperationOutcome> {
    return throughGateway(
      this.context,
      {
        kind: "void",
        paymentId,
        idempotencyKey,
        fingerprint: fingerprint(["void", paymentId]),
        decide: (payment, begin, dueAt, step) => {
          const releaseId = parseOperationId(this.context.ids.nextId());
          return payment.decideVoid(begin, releaseId, dueAt, step);
        },
      },
      caller,
    );
  }
}
