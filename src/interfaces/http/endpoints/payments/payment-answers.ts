import { z } from "zod";
import { disputeStatuses } from "../../../../domain/payment/picture/gateway-picture";
import { answerSchema } from "../../openapi/schema-names";
import { amountOut, idOut, instantOut } from "../../requests/wire-values";
import { labelsOut } from "./payment-labels";

export const visibleStatus = z.enum([
  "authorizing",
  "authorized",
  "capturing",
  "captured",
  "voiding",
  "voided",
  "refunding",
  "expired",
  "declined",
]);

export const operationKind = z.enum(["authorize", "capture", "void", "refund"]);

export const operationAnswer = answerSchema(
  "Operation",
  z.strictObject({
    id: idOut,
    origin: z.enum(["holdfast", "gateway"]).meta({
      description:
        "`gateway`: made at the gateway, for instance in its dashboard, and not by a request to this service.",
    }),
    status: z.enum(["succeeded", "failed", "unknown"]).meta({
      description:
        "`unknown`: the gateway has not confirmed the outcome yet. It is resolved automatically, or a person decides with evidence.",
    }),
    amount: amountOut,
    failureCode: z.string().nullable(),
    needsReview: z.boolean().meta({ description: "Whether a person has to decide the outcome." }),
    createdAt: instantOut,
    settledAt: instantOut.nullable(),
  }),
);

export const disputeAnswer = answerSchema(
  "Dispute",
  z.strictObject({
    id: z.string().meta({ description: "The gateway's own." }),
    status: z.enum(disputeStatuses).meta({
      description: "`closed`: it ended without a decision.",
    }),
    amount: amountOut,
    reason: z.string().meta({ description: "The gateway's own word." }),
    dueBy: instantOut.nullable().meta({ description: "Until when the gateway takes evidence." }),
  }),
);

export const paymentAnswer = answerSchema(
  "Payment",
  z.strictObject({
    id: idOut,
    merchant: z.string(),
    status: visibleStatus,
    amount: amountOut.min(1),
    currency: z.string().regex(/^[A-Z]{3}$/),
    currencyExponent: z.int().min(0).max(9).nullable().meta({
      description:
        "How many digits of the payment's amounts follow the decimal point, as it was when the payment was created. Null if that is not known.",
    }),
    amountCapturable: amountOut,
    amountCaptured: amountOut,
    amountRefunded: amountOut,
    ...labelsOut,
    authorizedAt: instantOut.nullable(),
    expiresAt: instantOut,
    createdAt: instantOut,
    updatedAt: instantOut,
    captures: z.array(operationAnswer),
    refunds: z.array(operationAnswer),
    disputes: z.array(disputeAnswer),
  }),
);

export const paymentEventAnswer = answerSchema(
  "PaymentEvent",
  z.strictObject({
    id: z.string(),
    type: z.string(),
    at: instantOut,
    data: z.record(z.string(), z.unknown()).meta({
      description:
        "The caller, how long the request waited for the lock and for which holder, the fencing token, and the gateway's " +
        "answer. An operator's text about a review and the id of an operator's key are shown to operator keys only.",
    }),
  }),
);

export const onePaymentAnswer = answerSchema("OnePayment", z.strictObject({ payment: paymentAnswer }));
export const capturedAnswer = answerSchema(
  "Captured",
  z.strictObject({ capture: operationAnswer, payment: paymentAnswer }),
);
export const voidedAnswer = answerSchema(
  "Voided",
  z.strictObject({ void: operationAnswer, payment: paymentAnswer }),
);
export const refundedAnswer = answerSchema(
  "Refunded",
  z.strictObject({ refund: operationAnswer, payment: paymentAnswer }),
);
export const paymentListAnswer = answerSchema(
  "PaymentList",
  z.strictObject({
    data: z.array(paymentAnswer),
    nextCursor: z.string().nullable(),
  }),
);
export const eventListAnswer = answerSchema(
  "EventList",
  z.strictObject({
    data: z.array(paymentEventAnswer),
    nextCursor: z.string().nullable(),
  }),
);
