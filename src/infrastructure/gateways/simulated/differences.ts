import type { OperationKind } from "../../../domain/payment/operation";
import type { LedgerAmount, LedgerEntry } from "./ledgers/gateway-ledger";

interface Asked {
  readonly kind: OperationKind;
  readonly paymentId: string;
  readonly operationId: string;
  readonly amount: LedgerAmount;
  readonly authorizationReference: string | null;
  readonly paymentMethod?: string | null;
  readonly customerPage?: LedgerEntry["customerPage"];
}

/** In which ways a request is not the one that this key belongs to, in words; null if it is. */
export function differences(entry: LedgerEntry, asked: Asked): string | null {
  const found: string[] = [];
  const compare = (what: string, known: string | null, given: string | null) => {
    if (known !== given) found.push(`${what} is ${known ?? "none"}, not ${given ?? "none"}`);
  };
  compare("kind", entry.kind, asked.kind);
  compare("payment", entry.paymentId, asked.paymentId);
  compare("operation", entry.operationId, asked.operationId);
  compare("amount", inWords(entry.amount), inWords(asked.amount));
  if (entry.kind !== "authorize") {
    compare("authorization", entry.authorizationReference, asked.authorizationReference);
  } else if (asked.paymentMethod !== undefined) {
    // A search names no payment method, and cannot name the authorization that it is looking for.
    compare("payment method", entry.paymentMethod, asked.paymentMethod);
  }
  if (asked.customerPage !== undefined) {
    const given = asked.customerPage?.returnUrl ?? null;
    compare("return URL", entry.customerPage?.returnUrl ?? null, given);
  }
  return found.length === 0 ? null : found.join("; ");
}

function inWords({ amount, currency }: LedgerAmount): string {
  return `${amount} minor units of ${currency}`;
}
