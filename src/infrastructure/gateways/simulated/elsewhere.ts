import type { GatewayTables, LedgerRequest } from "./ledgers/gateway-ledger";
import { keyElsewhere } from "./keys-of-others";
import { moveMoney } from "./move-money";
import type { ElsewhereBehaviour } from "./payment-method-token";

/** Somebody will do this later, whatever becomes of the one who has just been here. */
export async function doElsewhereLater(
  tables: GatewayTables,
  { paymentId, amount, reference }: { paymentId: string; amount: LedgerRequest["amount"]; reference: string },
  { does }: ElsewhereBehaviour,
  dueAt: Date,
): Promise<void> {
  const kind = kinds[does];
  // Half of it, so that there is something left to refund.
  const part = does === "refunded_elsewhere" ? { ...amount, amount: (amount.amount + 1n) / 2n } : amount;
  const request = requestElsewhere(kind, paymentId, part, reference);
  await tables.putEntry({ ...request, state: { is: "in_flight", dueAt } });
}

const kinds = {
  captured_elsewhere: "capture",
  voided_elsewhere: "void",
  refunded_elsewhere: "refund",
} as const satisfies Record<ElsewhereBehaviour["does"], LedgerRequest["kind"]>;

/** Somebody has just done it: all of what is open is taken. */
export async function captureElsewhere(
  tables: GatewayTables,
  { paymentId, authorizationReference }: Pick<LedgerRequest, "paymentId" | "authorizationReference">,
  at: Date,
): Promise<void> {
  if (authorizationReference === null) return;
  const authorization = await tables.authorization(authorizationReference);
  if (authorization?.status !== "open") return;
  await moveMoney(
    tables,
    requestElsewhere("capture", paymentId, authorization.amount, authorizationReference),
    at,
  );
}

function requestElsewhere(
  kind: LedgerRequest["kind"],
  paymentId: string,
  amount: LedgerRequest["amount"],
  authorizationReference: string,
): LedgerRequest {
  const gatewayKey = keyElsewhere(kind, authorizationReference);
  return {
    gatewayKey,
    operationId: gatewayKey,
    paymentId,
    kind,
    amount,
    authorizationReference,
    paymentMethod: null,
    customerPage: null,
  };
}
