import { z } from "zod";
import { disputeStatuses } from "../../../../domain/payment/picture/gateway-picture";
import { answerSchema } from "../../openapi/schema-names";
import { amountOut, idOut, instantOut } from "../../requests/wire-values";
import { labelsOut } from "./payment-labels";

export const visibleStatus = z.enum([
  "authorizing",
  "requires_action",
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
    status: z.enum(["succeeded", "failed", "pending", "requires_action", "unknown"]).meta({
      description:
        "`pending`: the gateway has taken the order and will report the outcome later, perhaps after days. `unknown`: the " +
        "gateway has not confirmed the outcome yet. Either is resolved automatically, or a person decides with evidence. " +
        "`requires_action`: of an authorization that an event is about; it waits for the customer.",
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
    nextAction: z
      .strictObject({
        type: z.literal("redirect"),
        url: z.string().meta({ description: "Send the customer's browser here." }),
        expiresAt: instantOut.meta({ description: "Until when the customer is waited for." }),
      })
      .optional()
      .meta({
        description:
          "Only while `status` is `requires_action`, and only where the payment is asked for: not in events.",
      }),
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
