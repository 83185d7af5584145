import { InvalidValueError } from "./payment/errors";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Ids are canonical: two spellings of one id become the same string, so they lock and store the same thing. */
export type PaymentId = Branded<"PaymentId">;
export type OperationId = Branded<"OperationId">;
export type MerchantId = Branded<"MerchantId">;
export type IdempotencyKey = Branded<"IdempotencyKey">;

/** RFC 9562: versions 1 to 8 of the one variant, and the two reserved values. */
const UUID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}|0{8}-(?:0{4}-){3}0{12}|f{8}-(?:f{4}-){3}f{12})$/;
const MERCHANT = /^[a-z0-9][a-z0-9_-]{0,62}$/;
const VISIBLE_ASCII = /^[\x21-\x7e]{1,255}$/;

export function parsePaymentId(text: string): PaymentId {
  return parseUuid(text, "invalid_payment_id", "a payment id") as PaymentId;
}

export function parseOperationId(text: string): OperationId {
  return parseUuid(text, "invalid_operation_id", "an operation id") as OperationId;
}

export function parseMerchantId(text: string): MerchantId {
  if (!isText(text) || !MERCHANT.test(text)) {
    throw new InvalidValueError(
      "invalid_merchant",
      "a merchant is 1 to 63 of a-z, 0-9, _ and -, and begins with a letter or digit",
    );
  }
  return text as MerchantId;
}

export function parseIdempotencyKey(text: string): IdempotencyKey {
  if (!isText(text) || !VISIBLE_ASCII.test(text)) {
    throw new InvalidValueError(
      "invalid_idempotency_key",
      "an idempotency key is 1 to 255 visible ASCII characters without spaces",
    );
  }
  return text as IdempotencyKey;
}

/** What is locked while a payment is read, decided on and changed. */
export function paymentResourceId(id: PaymentId): string {
  return `payment:${id}`;
}

function parseUuid(text: string, code: "invalid_payment_id" | "invalid_operation_id", what: string): string {
  const canonical = isText(text) ? text.toLowerCase() : "";
  if (!UUID.test(canonical)) throw new InvalidValueError(code, `${what} is a UUID`);
  return canonical;
}

/** Whoever calls without types may send anything; a pattern would take `undefined` for the word. */
function isText(value: unknown): value is string {
  return typeof value === "string";
}
