import { Router, type RequestHandler } from "express";
import { z } from "zod";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { Observation, ObservePayment } from "../../application/use-cases/observe-payment";
import { parsePaymentId, type PaymentId } from "../../domain/identifiers";
import type { Money } from "../../domain/money";
import { gatewayKey, type OperationKind } from "../../domain/operation";
import { answerJson } from "./requests/answer";
import { asCaller } from "./requests/as-caller";
import { operatorOnly } from "./requests/authentication";
import type { Lifecycle } from "./server/lifecycle";
import { operationAnswer, paymentAnswer } from "./endpoints/payments/payment-answers";
import { presentOperation, presentPayment } from "./endpoints/payments/present-payment";
import { route } from "./routes";
import { amountOut, idOut, instantOut } from "./requests/wire-values";

/** One time that money moved at the simulated gateway. */
export interface GatewayMoveView {
  readonly kind: OperationKind;
  readonly gatewayKey: string;
  readonly amount: Pick<Money, "amount" | "currency">;
  readonly at: Date;
}

export type GatewayMoves = (paymentId: PaymentId) => Promise<readonly GatewayMoveView[]>;

export interface GatewayRouterParts {
  readonly observePayment: Pick<ObservePayment, "execute">;
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
  /** Only where the gateway is the simulated one. */
  readonly gatewayMoves?: GatewayMoves;
}

const kind = z.enum(["authorize", "capture", "void", "refund"]);

export const gatewayMovesAnswer = z.strictObject({
  moves: z.array(
    z.strictObject({
      kind,
      gatewayKey: z.string(),
      amount: amountOut,
      at: instantOut,
    }),
  ),
});

export const observedAnswer = z.strictObject({
  operations: z.array(
    z.strictObject({
      operationId: idOut,
      kind,
      amount: amountOut,
      recorded: operationAnswer.shape.status.meta({ description: "As it was stored before the question." }),
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
            "`too_many`: one request asks about 48 operations at most, refunds first.",
        }),
    }),
  ),
  payment: paymentAnswer,
});

/** What the gateway says, whatever our own store believes. */
export function gatewayRouter(parts: GatewayRouterParts): Router {
  const { observePayment, gatewayMoves } = parts;
  const router = Router();

  const observe: RequestHandler = async (request, response) => {
    const paymentId = paymentIdOf(request);
    const { payment, observations } = await asCaller(request, response, parts, (caller) =>
      observePayment.execute(paymentId, caller),
    );
    const answer: z.output<typeof observedAnswer> = {
      operations: observations.map(presentObservation),
      payment: presentPayment(payment),
    };
    answerJson(response, 200, answer);
  };

  router.use(operatorOnly);
  if (gatewayMoves !== undefined) {
    const moves: RequestHandler = async (request, response) => {
      const found = await gatewayMoves(paymentIdOf(request));
      answerJson(response, 200, { moves: found.map(presentMove) });
    };
    route(router, "/payments/:paymentId", { get: moves });
  }
  route(router, "/payments/:paymentId/observe", { post: observe });
  return router;
}

function paymentIdOf({ params }: Parameters<RequestHandler>[0]): PaymentId {
  const { paymentId } = params;
  return parsePaymentId(typeof paymentId === "string" ? paymentId : "");
}

function presentMove({ kind: moved, gatewayKey: key, amount, at }: GatewayMoveView) {
  return { kind: moved, gatewayKey: key, amount: Number(amount.amount), at: at.toISOString() };
}

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
