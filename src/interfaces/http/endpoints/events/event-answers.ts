import { z } from "zod";
import { publicEventTypes } from "../../../../application/public-events/public-event";
import { answerSchema } from "../../openapi/schema-names";
import { idOut, instantOut } from "../../requests/wire-values";
import { disputeAnswer, operationAnswer, operationKind, paymentAnswer } from "../payments/payment-answers";

export const publicEventAnswer = answerSchema(
  "Event",
  z.strictObject({
    id: idOut.meta({ description: "The same wherever and however often the event is told." }),
    type: z.enum(publicEventTypes),
    timestamp: instantOut,
    data: z
      .looseObject({
        payment: paymentAnswer.optional(),
        operation: operationAnswer.extend({ kind: operationKind }).nullable().optional(),
        dispute: disputeAnswer.optional(),
        sequence: z.int().min(1).optional(),
      })
      .meta({
        description:
          "`payment`: as it was then. `operation`: the movement that is meant, or null. `dispute`: the one that is meant, if " +
          "the event is about one. `sequence`: 1, 2, 3, … within the payment. What is no payment's has other members.",
      }),
  }),
);

export const eventFeedAnswer = answerSchema(
  "EventFeed",
  z.strictObject({
    data: z.array(publicEventAnswer),
    nextCursor: z.string().meta({ description: "Where to go on. There always is one." }),
    hasMore: z.boolean().meta({ description: "There may be more at once." }),
  }),
);
