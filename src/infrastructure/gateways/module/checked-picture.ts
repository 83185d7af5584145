import { z } from "zod";
import type { PictureAnswer } from "../../../application/ports/payment-gateway";
import { disputeStatuses } from "../../../domain/payment/picture/gateway-picture";
import { oneLine } from "./in-print";

const reference = z.string().regex(/^[^\p{Cc}\p{Cs}]{1,255}$/u);
const words = z.string().transform(oneLine);
const amount = z.bigint().nonnegative();
const movement = { reference, amount, operationId: z.string().nullable() };

const picture = z.object({
  authorization: z.enum(["undecided", "open", "captured", "cancelled", "lapsed"]),
  authorizedUntil: z.date().nullable(),
  captured: z.object(movement).nullable(),
  cancellation: z
    .object({
      reference,
      by: z.union([z.object({ operationId: z.string() }), z.literal("others"), z.literal("unnamed")]),
    })
    .nullable(),
  refunds: z.array(
    z.object({
      ...movement,
      state: z.enum(["pending", "succeeded", "failed"]),
      reason: words.nullable(),
    }),
  ),
  disputes: z.array(
    z.object({
      id: reference,
      status: z.enum(disputeStatuses),
      amount,
      reason: words,
      dueBy: z.date().nullable(),
    }),
  ),
});

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
