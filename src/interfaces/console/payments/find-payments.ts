import { parseOperationId, parsePaymentId, type MerchantId } from "../../../domain/identifiers";
import { currencyExponent, parseCurrency } from "../../../domain/money";
import type { Payment } from "../../../domain/payment/payment";
import { PaymentError } from "../../../domain/payment/errors";
import type { Page, PaymentQuery } from "../../../application/ports/payment-repository";
import type { ConsoleParts } from "../console-parts";
import { minorUnits } from "../html/money";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const AMOUNT = /^(\d[\d.,]*)\s*([A-Za-z]{3})$/;
/** A gateway gives a name once; the same name in several accounts is rare. */
const MOST_OF_ONE_NAME = 20;

export interface Found {
  /** Exactly what was looked for, if that is one thing. */
  readonly one: { readonly payment: Payment; readonly operationId?: string } | null;
  readonly page: Page<Payment>;
}

/** What a person has in hand: an id of ours, the merchant's reference, the gateway's, or an amount such as `12.50 EUR`. */
export async function findPayments(
  text: string,
  query: PaymentQuery,
  { readPayments }: Pick<ConsoleParts, "readPayments">,
): Promise<Found> {
  if (text === "") return { one: null, page: await readPayments.list(query) };
  if (UUID.test(text)) {
    const one = await byId(text, query.merchant, { readPayments });
    if (one !== null) return { one, page: { data: [one.payment], nextCursor: null } };
  }
  const amount = amountIn(text);
  if (amount !== undefined) return { one: null, page: await readPayments.list({ ...query, amount }) };
  const isFirstPage = query.cursor === undefined;
  const [named, page] = await Promise.all([
    isFirstPage ? readPayments.byGatewayReference(text, query.merchant, MOST_OF_ONE_NAME) : [],
    readPayments.list({ ...query, reference: text }),
  ]);
  const others = page.data.filter(({ facts }) => !named.some((one) => one.facts.id === facts.id));
  const data = [...named, ...others];
  const [only] = data;
  const isOne = data.length === 1 && page.nextCursor === null && isFirstPage;
  return { one: isOne && only !== undefined ? { payment: only } : null, page: { ...page, data } };
}

async function byId(
  text: string,
  merchant: MerchantId | null,
  { readPayments }: Pick<ConsoleParts, "readPayments">,
): Promise<Found["one"]> {
  try {
    return { payment: await readPayments.one(parsePaymentId(text), merchant) };
  } catch (error) {
    const isElse = error instanceof PaymentError && error.code === "payment_not_found";
    if (!isElse) return null;
  }
  const operationId = parseOperationId(text);
  const payment = await readPayments.byOperation(operationId, merchant);
  return payment === null ? null : { payment, operationId };
}

function amountIn(text: string): PaymentQuery["amount"] {
  const [, digits, code] = AMOUNT.exec(text) ?? [];
  if (digits === undefined || code === undefined) return undefined;
  try {
    const currency = parseCurrency(code);
    return { amount: minorUnits(digits, { currency, exponent: currencyExponent(currency) }), currency };
  } catch {
    // A reference may look like an amount, too.
    return undefined;
  }
}
