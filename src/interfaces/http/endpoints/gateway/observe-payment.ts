import { z } from "zod";
import type { LockTimeoutPolicy } from "../../../../application/ports/lock-timeout";
import type { Observation, ObservePayment } from "../../../../application/use-cases/observe-payment";
import { parseOperationId } from "../../../../domain/identifiers";
import { gatewayKey } from "../../../../domain/operation";
import { answerSchema } from "../../openapi/schema-names";
import { asCaller } from "../../requests/as-caller";
import { amountOut, idOut } from "../../requests/wire-values";
import type { Lifecycle } from "../../server/lifecycle";
import { endpoint } from "../endpoint";
import { operationAnswer, operationKind, paymentAnswer } from "../payments/payment-answers";
import { presentOperation, presentPayment } from "../payments/present-payment";

export interface ObservationParts {
  readonly observePayment: Pick<ObservePayment, "execute">;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}

const observedAnswer = answerSchema(
  "Observed",
  z.strictObject({
    operations: z.array(
      z.strictObject({
        operationId: idOut,
        kind: operationKind,
        amount: amountOut,
        recorded: operationAnswer.shape.status.meta({
          description: "As it was stored before the question.",
        }),
        gatewayKey: z.string(),
        gateway: z
          .strictObject({
            answer: z.enum([
              "succeeded",
              "declined",
              "authorization_gone",
              "absent",
              "pending",
              "unknown",
              "mismatch",
            ]),
            reason: z.string().optional(),
            evidence: z.string().optional(),
            reference: z.string().optional(),
            captured: z.boolean().optional().meta({ description: "What does not fit: the money was taken." }),
          })
          .nullable()
          .meta({ description: "What the gateway says now. Null if it was not asked." }),
        result: z.enum(["agrees", "inconclusive", "corrected", "in_review", "not_asked"]).meta({
          description:
            "`corrected`: the gateway has taken a refund's success back, and the payment says so now. `in_review`: what the " +
            "gateway says and what is stored cannot both be true, and a person decides. `inconclusive`: what the gateway " +
            "says proves nothing about this operation.",
        }),
        notAsked: z
          .enum(["open", "not_sent", "made_elsewhere", "too_many"])
          .nullable()
          .meta({
            description:
              "`open`: it is asked about anyway. `not_sent`: the gateway never got it. `made_elsewhere`: it was imported. " +
              "`too_many`: one request asks about 48 operations at most, refunds first; `nextCursor` asks about more.",
          }),
      }),
    ),
    payment: paymentAnswer,
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: "For `cursor`, while there are more to ask about." }),
  }),
);

const observeQuery = z.strictObject({
  cursor: z
    .uuid("is not a cursor")
    .optional()
    .meta({ description: "`nextCursor` of the answer before: asks about the operations after those." }),
});

export const observePayment = endpoint<ObservationParts>()({
  method: "post",
  path: "/gateway/payments/:paymentId/observe",
  operationId: "observePayment",
  tag: "Reviews",
  summary: "Ask the gateway again about what has ended, and correct what it has taken back",
  description:
    "With every gateway. Nothing is sent because of it. A refund that failed at the gateway after it had succeeded is " +
    "`failed` from then on, and another key may refund again; its own key keeps its first answer. Any other " +
    "contradiction goes before a person, and is listed at `/reviews`.",
  access: "operator",
  query: observeQuery,
  answers: {
    200: {
      description: "What the gateway says beside what was stored, and the payment as it is now.",
      schema: observedAnswer,
    },
  },
  problems: [
    "invalid_payment_id",
    "invalid_request",
    "payment_not_found",
    "payment_busy",
    "lock_timeout",
    "lock_unavailable",
    "lock_lost",
  ],
  async handle({ request, response, ids, query: { cursor } }, parts) {
    const after = cursor === undefined ? null : parseOperationId(cursor);
    const { payment, observations, next } = await asCaller(request, response, parts, (caller) =>
      parts.observePayment.execute(ids.paymentId, caller, after),
    );
    const operations = observations.map(presentObservation);
    return { status: 200, body: { operations, payment: presentPayment(payment), nextCursor: next } };
  },
});

function presentObservation(observation: Observation): z.output<typeof observedAnswer>["operations"][number] {
  const { operation } = observation;
  const asStored = {
    operationId: operation.id,
    kind: operation.kind,
    amount: Number(operation.amount),
    recorded: presentOperation(operation).status,
    gatewayKey: gatewayKey(operation),
  };
  if ("notAsked" in observation) {
    return { ...asStored, gateway: null, result: "not_asked", notAsked: observation.notAsked };
  }
  const { outcome, ...said } = observation.seen;
  return { ...asStored, gateway: { answer: outcome, ...said }, result: observation.result, notAsked: null };
}
