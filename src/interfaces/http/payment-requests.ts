import { z } from "zod";
import { amountIn, currencyIn, instantIn, metadata, text } from "./wire-values";

const DAY_SECONDS = 86_400;
const DEFAULT_EXPIRY_SECONDS = 7 * DAY_SECONDS;
/** No card scheme keeps money reserved for longer. */
const MAX_EXPIRY_SECONDS = 31 * DAY_SECONDS;

export const authorizeRequest = z.strictObject({
  amount: amountIn,
  currency: currencyIn,
  paymentMethod: text(255).meta({
    description:
      "The gateway's token of a card. The simulated gateway knows `tok_ok`, `tok_capture_decline` and more.",
  }),
  reference: text(255)
    .optional()
    .meta({ description: "Your own name for the payment; lists can be filtered by it." }),
  metadata: metadata.optional(),
  expiresIn: z
    .int()
    .min(1)
    .max(MAX_EXPIRY_SECONDS)
    .default(DEFAULT_EXPIRY_SECONDS)
    .meta({ description: "For how many seconds the payment can be captured." }),
});

export const captureRequest = z.strictObject({
  amount: amountIn.optional(),
  currency: currencyIn.optional().meta({ description: "If given, it has to be the payment's." }),
});

export const visibleStatuses = [
  "authorizing",
  "authorized",
  "capturing",
  "captured",
  "voiding",
  "voided",
  "refunding",
  "expired",
  "declined",
] as const;

export const listQuery = z.strictObject({
  limit: z.int().min(1).max(100).default(20).meta({ description: "How many at most." }),
  cursor: z
    .string()
    .regex(/^[\x21-\x7e]{1,1024}$/, "is not a cursor")
    .optional()
    .meta({ description: "`nextCursor` of the page before." }),
  status: z.enum(visibleStatuses).optional(),
  reference: text(255).optional(),
  createdFrom: instantIn.optional().meta({ description: "Inclusive." }),
  createdTo: instantIn.optional().meta({ description: "Exclusive." }),
});
