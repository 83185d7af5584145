import { z } from "zod";
import type { PictureAnswer } from "../../../application/ports/payment-gateway";
import { MAX_AMOUNT } from "../../../domain/money";
import { disputeStatuses } from "../../../domain/payment/picture/gateway-picture";
import { oneLine } from "./in-print";
import { isPlainDate, isReference } from "./value-forms";

const reference = z.string().refine(isReference, "is no reference");
const words = z.string().transform(oneLine);
const amount = z.bigint().nonnegative().max(MAX_AMOUNT);
const instant = z.date().refine(isPlainDate, "is not in the years 0 to 9999");
const movement = { reference, amount, operationId: z.string().nullable() };

const picture = z.object({
  authorization: z.enum(["undecided", "open", "captured", "cancelled", "lapsed"]),
  authorizedUntil: instant.nullable(),
  captured: z.object(movement).nullable(),
  cancellation: z
    .object({
      reference,
      by: z.union([z.object({ operationId: z.string() }), z.literal("others"), z.literal("unnamed")]),
    })
    .nullable(),
  refunds: z
    .array(
      z.object({
        ...movement,
        state: z.enum(["pending", "succeeded", "failed"]),
        reason: words.nullable(),
      }),
    )
    .refine(
      (refunds) => areDistinct(refunds.map(({ reference: one }) => one)),
      "two have the same reference",
    ),
  disputes: z
    .array(
      z.object({
        id: reference,
        status: z.enum(disputeStatuses),
        amount,
        reason: words,
        dueBy: instant.nullable(),
      }),
    )
    .refine((disputes) => areDistinct(disputes.map(({ id }) => id)), "two have the same id"),
});

/** Of two that have one name it cannot be said which is true, and each would correct the other for ever. */
function areDistinct(names: readonly string[]): boolean {
  return new Set(names).size === names.length;
}

const answer = z.discriminatedUnion("outcome", [
  z.object({ outcome: z.literal("seen"), picture }),
  z.object({ outcome: z.literal("unknown"), reason: words }),
]);

/** A picture that a module has drawn. One with a part that makes no sense is none: what is left might mislead. */
export function checkedPicture(drawn: unknown): PictureAnswer {
  const read = answer.safeParse(drawn);
  if (read.success) return read.data;
  const { path = [], message = "" } = read.error.issues[0] ?? {};
  return {
    outcome: "unknown",
    reason: oneLine(`a picture that makes no sense (${path.join(".")}: ${message})`),
  };
}
