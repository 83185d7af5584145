import { z } from "zod";
import type { LockTimeoutPolicy } from "../../../../application/ports/lock-timeout";
import type {
  Observation,
  ObservePayment,
  PictureStatement,
} from "../../../../application/use-cases/observe-payment";
import { parseOperationId } from "../../../../domain/identifiers";
import type { GatewayStatement } from "../../../../domain/payment/facts";
import { gatewayKey } from "../../../../domain/payment/operation";
import { answerSchema } from "../../openapi/schema-names";
import { asCaller } from "../../requests/as-caller";
import { amountOut, idOut } from "../../requests/wire-values";
import type { Lifecycle } from "../../server/lifecycle";
import { endpoint } from "../endpoint";
import { operationAnswer, operationKind, paymentAnswer } from "../payments/payment-answers";
import { publicOperation, publicPayment } from "../../../../application/public-events/public-payment";

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
          description: "The stored status before the gateway was asked.",
        }),
        gatewayKey: z.string(),
        gateway: z
          .strictObject({
            answer: z.enum([
              "succeeded",
              "declined",
              "authorization_gone",
              "requires_action",
              "absent",
              "pending",
              "unknown",
              "mismatch",
            ]),
            reason: z.string().optional(),
            evidence: z.string().optional(),
            reference: z.string().optional(),
            captured: z
              .boolean()
              .optional()
              .meta({ description: "What contradicts the record: the money was captured." }),
          })
          .nullable()
          .meta({ description: "The gateway's answer now. Null if it was not asked." }),
        result: z.enum(["agrees", "inconclusive", "settled", "corrected", "in_review", "not_asked"]).meta({
          description:
            "`settled`: it was open, and the gateway shows what became of it. `corrected`: the gateway has taken a refund's success back, and the payment now shows it. `in_review`: the " +
            "gateway's answer and the stored status cannot both be true, and a person decides. `inconclusive`: the " +
            "gateway's answer proves nothing about this operation.",
        }),
        notAsked: z
          .enum(["open", "not_sent", "made_elsewhere", "too_many"])
          .nullable()
          .meta({
            description:
              "`open`: a release, which the reconciler asks about, or an operation that two answers contradict. `not_sent`: it never reached the gateway. `made_elsewhere`: it has no " +
              "key of ours to ask about: it was imported, or others made it at the gateway. `too_many`: one request asks about 48 operations at most, refunds first; `nextCursor` continues.",
          }),
      }),
    ),
    payment: paymentAnswer,
    picture: z
      .strictObject({ answer: z.enum(["seen", "unknown"]), reason: z.string().optional() })
      .nullable()
      .meta({
        description:
          "Whether the gateway has shown the payment as a whole. `unknown`: it was asked and gave no usable answer, so what " +
          "others did there, and disputes, were not compared; repeat the request. Null: this gateway shows none, or has not " +
          "told yet what it calls the authorization. Where it is `unknown`, an open operation is asked about by its key.",
      }),
    nextCursor: z
      .string()
      .nullable()
      .meta({ description: "The value for `cursor` while operations are left to ask about." }),
  }),
);

const observeQuery = z.strictObject({
  cursor: z
    .uuid("is not a cursor")
    .optional()
    .meta({ description: "`nextCursor` of the previous answer: continues after its operations." }),
});

export const observePayment = endpoint<ObservationParts>()({
  method: "post",
  path: "/gateway/payments/:paymentId/observe",
  operationId: "observePayment",
  tag: "Reviews",
  summary: "Compare a payment with the gateway's view of it, and write down what differs",
  description:
    "Works with every gateway and sends no movement of money. Where the gateway shows a payment as a whole (Stripe and " +
    "the simulated gateway do), an open operation is settled by it, movements that others made there become operations " +
    "with `origin: gateway`, and disputes are taken over. A refund that failed at the gateway after it had " +
    "succeeded becomes `failed`, and a request with another key may refund again; its own key keeps its first answer. " +
    "Any other contradiction goes to review, and is listed at `/reviews`.",
  access: "operator",
  query: observeQuery,
  answers: {
    200: {
      description: "The gateway's answers beside the stored statuses, and the payment as it is now.",
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
    const observed = await asCaller(request, response, parts, (caller) =>
      parts.observePayment.execute(ids.paymentId, caller, after),
    );
    return { status: 200, body: presentObserved(observed) };
  },
});

type Observed = Awaited<ReturnType<ObservePayment["execute"]>>;

export function presentObserved({
  payment,
  observations,
  picture,
  next,
}: Observed): z.output<typeof observedAnswer> {
  const operations = observations.map(presentObservation);
  return { operations, payment: publicPayment(payment), picture: pictured(picture), nextCursor: next };
}

function pictured(picture: PictureStatement | null): z.output<typeof observedAnswer>["picture"] {
  if (picture === null) return null;
  return { answer: picture.outcome, ...("reason" in picture && { reason: picture.reason }) };
}

function presentObservation(observation: Observation): z.output<typeof observedAnswer>["operations"][number] {
  const { operation } = observation;
  const asStored = {
    operationId: operation.id,
    kind: operation.kind,
    amount: Number(operation.amount),
    recorded: publicOperation(operation).status,
    gatewayKey: gatewayKey(operation),
  };
  if ("notAsked" in observation) {
    return { ...asStored, gateway: null, result: "not_asked", notAsked: observation.notAsked };
  }
  const { seen, result } = observation;
  return { ...asStored, gateway: presentStatement(seen), result, notAsked: null };
}

function presentStatement(seen: GatewayStatement) {
  return {
    answer: seen.outcome,
    ...("reason" in seen ? { reason: seen.reason } : {}),
    ...("evidence" in seen ? { evidence: seen.evidence } : {}),
    ...("reference" in seen && seen.reference !== null && seen.reference !== undefined
      ? { reference: seen.reference }
      : {}),
    ...("captured" in seen && seen.captured === true ? { captured: seen.captured } : {}),
  };
}
