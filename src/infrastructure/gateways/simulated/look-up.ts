import type { LookupAnswer } from "../../../application/ports/authorization-lookup";
import { InvalidValueError } from "../../../domain/payment/errors";
import { currencyExponent, money, parseCurrency, type Money } from "../../../domain/money";
import type { GatewayTables, LedgerAuthorization } from "./ledgers/gateway-ledger";

/**
 * `ext_<minor units>_<currency>_<name>`, perhaps `.for_<merchant>` and perhaps `.<token>`: an authorization that was made
 * in a browser, as far as anybody can tell. It exists from the moment somebody asks for it.
 */
const MADE_ELSEWHERE =
  /^ext_(\d{1,12})_([a-z]{3})_[\w-]{1,64}(?:\.for_([\w-]{1,63}))?(?:\.(tok_\w{1,64}))?$/i;

export async function lookUp(tables: GatewayTables, reference: string): Promise<LookupAnswer> {
  const authorization = (await tables.authorization(reference)) ?? (await madeElsewhere(tables, reference));
  if (authorization === null) return { outcome: "not_found" };
  const merchant = MADE_ELSEWHERE.exec(reference)?.[3] ?? null;
  if (authorization.status !== "open") {
    return { outcome: "not_capturable", merchant, reason: authorization.status };
  }
  const { paymentId } = authorization;
  const exponent = currencyExponent(authorization.amount.currency);
  if (exponent === null) return { outcome: "not_capturable", merchant, reason: "currency_not_supported" };
  const amount: Money = { ...authorization.amount, exponent };
  return { outcome: "found", merchant, authorization: { reference, amount, expiresAt: null, paymentId } };
}

async function madeElsewhere(tables: GatewayTables, reference: string): Promise<LedgerAuthorization | null> {
  const [, digits, currency, , token] = MADE_ELSEWHERE.exec(reference) ?? [];
  const amount = digits === undefined || currency === undefined ? null : amountOf(digits, currency);
  if (amount === null) return null;
  const authorization: LedgerAuthorization = {
    reference,
    paymentId: null,
    amount,
    paymentMethod: token ?? "tok_ok",
    status: "open",
    reserved: amount.amount,
    captured: 0n,
    refunded: 0n,
  };
  await tables.putAuthorization(authorization);
  return authorization;
}

function amountOf(digits: string, currency: string): Money | null {
  try {
    return money(BigInt(digits), parseCurrency(currency));
  } catch (error) {
    if (error instanceof InvalidValueError) return null;
    throw error;
  }
}
