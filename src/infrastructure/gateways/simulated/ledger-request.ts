import type { MovementRequest } from "../../../application/ports/payment-gateway";
import type { OperationKind } from "../../../domain/payment/operation";
import type { GatewayTables, LedgerRequest } from "./ledgers/gateway-ledger";

/** Of an authorization itself, or of the one that a movement belongs to. */
export async function paymentMethodOf(tables: GatewayTables, request: LedgerRequest): Promise<string> {
  if (request.paymentMethod !== null) return request.paymentMethod;
  if (request.authorizationReference === null) return "";
  return (await tables.authorization(request.authorizationReference))?.paymentMethod ?? "";
}

/** The part of a request that it has in common with all others. */
export function inLedger(
  kind: OperationKind,
  { gatewayKey, operationId, paymentId, amount }: Omit<MovementRequest, "authorizationReference">,
): Pick<LedgerRequest, "kind" | "gatewayKey" | "operationId" | "paymentId" | "amount"> {
  const units = { amount: amount.amount, currency: amount.currency };
  return { kind, gatewayKey, operationId, paymentId, amount: units };
}
