import { Router, type RequestHandler } from "express";
import { z } from "zod";
import { parsePaymentId, type PaymentId } from "../../domain/identifiers";
import type { Money } from "../../domain/money";
import type { OperationKind } from "../../domain/operation";
import { answerJson } from "./answer";
import { operatorOnly } from "./authentication";
import { route } from "./routes";
import { amountOut, instantOut } from "./wire-values";

/** One time that money moved at the simulated gateway. */
export interface GatewayMoveView {
  readonly kind: OperationKind;
  readonly gatewayKey: string;
  readonly amount: Money;
  readonly at: Date;
}

export type GatewayMoves = (paymentId: PaymentId) => Promise<readonly GatewayMoveView[]>;

export const gatewayMovesAnswer = z.strictObject({
  moves: z.array(
    z.strictObject({
      kind: z.enum(["authorize", "capture", "void", "refund"]),
      gatewayKey: z.string(),
      amount: amountOut,
      at: instantOut,
    }),
  ),
});

/** What the simulated gateway did, whatever our own store believes. */
export function gatewayRouter(gatewayMoves: GatewayMoves): Router {
  const router = Router();
  const moves: RequestHandler<{ paymentId: string }> = async (request, response) => {
    const found = await gatewayMoves(parsePaymentId(request.params.paymentId));
    answerJson(response, 200, {
      moves: found.map(({ kind, gatewayKey, amount, at }) => ({
        kind,
        gatewayKey,
        amount: Number(amount.amount),
        at: at.toISOString(),
      })),
    });
  };
  router.use(operatorOnly);
  route(router, "/payments/:paymentId", { get: moves as RequestHandler });
  return router;
}
