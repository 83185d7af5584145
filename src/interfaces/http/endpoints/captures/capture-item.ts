import { z } from "zod";
import type { CapturePaymentCommand } from "../../../../application/use-cases/capture-payment";
import { parseIdempotencyKey, parsePaymentId, type IdempotencyKey } from "../../../../domain/identifiers";
import { requestSchema } from "../../openapi/schema-names";
import { RequestError } from "../../problems/request-error";
import { validBody } from "../../requests/validation";
import { partOfAmount } from "../payments/part-of-amount";

export const MAX_CAPTURES = 500;
/** As many captures with the longest keys, each character of which JSON may write as two, and indented. */
export const CAPTURES_LIMIT_BYTES = 512 * 1024;

const NAME = "CaptureItem";

const captureItem = requestSchema(
  NAME,
  z.strictObject({
    paymentId: z.string().meta({ format: "uuid" }),
    idempotencyKey: z.string().meta({
      description:
        "1 to 255 visible ASCII characters: the very key that `POST /payments/{paymentId}/capture` takes as a header.",
      minLength: 1,
    }),
    ...partOfAmount().shape,
  }),
);

export const capturesRequest = requestSchema(
  "CapturesRequest",
  z.strictObject({
    // Each is read on its own, later: what is wrong with one is its result, and no refusal of the others.
    captures: z
      .array(z.unknown().meta({ $ref: `#/components/schemas/${NAME}` }))
      .min(1)
      .max(MAX_CAPTURES),
  }),
);

/** One of the captures that were sent; checked as if it had come alone: payment id, key, body. */
export function readItem(sent: unknown, at: number): CapturePaymentCommand {
  const here = ["captures", at];
  if (typeof sent !== "object" || sent === null || Array.isArray(sent)) {
    return validBody(captureItem, sent, here) as never;
  }
  const given = sent as Readonly<Record<string, unknown>>;
  const paymentId = parsePaymentId(textOf(given["paymentId"]));
  const idempotencyKey = keyOf(given["idempotencyKey"]);
  const { amount, currency } = validBody(captureItem, sent, here);
  return { paymentId, idempotencyKey, amount, currency };
}

function keyOf(given: unknown): IdempotencyKey {
  if (given === undefined) {
    throw new RequestError(
      "idempotency_key_required",
      "Give each capture an idempotencyKey: a new key for each operation, and the same key whenever you repeat it.",
    );
  }
  return parseIdempotencyKey(textOf(given));
}

/** What is no text is no id and no key either, and is refused as such. */
function textOf(given: unknown): string {
  return typeof given === "string" ? given : "";
}
