import { z } from "zod";
import type { Operation } from "../../../../domain/payment/operation";
import type { Payment } from "../../../../domain/payment/payment";
import { answerSchema } from "../../openapi/schema-names";
import { operationAnswer, operationKind, paymentAnswer } from "../payments/payment-answers";
import { publicOperation, publicPayment } from "../../../../application/public-events/public-payment";

const fields = { operation: operationAnswer.extend({ kind: operationKind }), payment: paymentAnswer };

export const reviewedAnswer = answerSchema("Reviewed", z.strictObject(fields));

export function presentReviewed(payment: Payment, operation: Operation): z.output<typeof reviewedAnswer> {
  return {
    operation: { kind: operation.kind, ...publicOperation(operation) },
    payment: publicPayment(payment),
  };
}
