import { z } from "zod";
import type { Operation } from "../../../../domain/operation";
import type { Payment } from "../../../../domain/payment";
import { answerSchema } from "../../openapi/schema-names";
import { operationAnswer, operationKind, paymentAnswer } from "../payments/payment-answers";
import { presentOperation, presentPayment } from "../payments/present-payment";

const fields = { operation: operationAnswer.extend({ kind: operationKind }), payment: paymentAnswer };

export const reviewedAnswer = answerSchema("Reviewed", z.strictObject(fields));

export function presentReviewed(payment: Payment, operation: Operation): z.output<typeof reviewedAnswer> {
  return {
    operation: { kind: operation.kind, ...presentOperation(operation) },
    payment: presentPayment(payment),
  };
}
