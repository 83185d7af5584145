import { z } from "zod";
import type { PaymentId } from "../../../../domain/identifiers";
import type { Money } from "../../../../domain/money";
import type { OperationKind } from "../../../../domain/payment/operation";
import { answerSchema } from "../../openapi/schema-names";
import { amountOut, instantOut } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { operationKind } from "../payments/payment-answers";

/** One time that money moved at the simulated gateway. */
interface GatewayMoveView {
  readonly kind: OperationKind;
  readonly gatewayKey: string;
  readonly amount: Pick<Money, "amount" | "currency">;
  readonly at: Date;
}

export interface GatewayMovesParts {
  readonly gatewayMoves: (paymentId: PaymentId) => Promise<readonly GatewayMoveView[]>;
}

const gatewayMovesAnswer = answerSchema(
  "GatewayMoves",
  z.strictObject({
    moves: z.array(
      z.strictObject({ kind: operationKind, gatewayKey: z.string(), amount: amountOut, at: instantOut }),
    ),
  }),
);

/** What the gateway says, whatever our own store believes. */
export const listGatewayMoves = endpoint<GatewayMovesParts>()({
  method: "get",
  path: "/gateway/payments/:paymentId",
  operationId: "listGatewayMoves",
  tag: "Simulated gateway",
  summary: "How often the simulated gateway moved money for a payment",
  description:
    "The gateway's own count, independent of the store. Only available with the simulated gateway.",
  access: "operator",
  answers: { 200: { description: "In chronological order.", schema: gatewayMovesAnswer } },
  problems: ["invalid_payment_id"],
  async handle({ ids }, { gatewayMoves }) {
    const moves = await gatewayMoves(ids.paymentId);
    return { status: 200, body: { moves: moves.map(presentMove) } };
  },
});

function presentMove({ kind, gatewayKey, amount, at }: GatewayMoveView) {
  return { kind, gatewayKey, amount: Number(amount.amount), at: at.toISOString() };
}
