import { z } from "zod";
import { amountIn, currencyIn, instantIn, metadata, text } from "../../requests/wire-values";

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
  expiresIn: z.int().min(1).max(MAX_EXPIRY_SECONDS).default(DEFAULT_EXPIRY_SECONDS).meta({
    description:
      "For how many seconds the payment can be captured; never longer than the gateway keeps the money.",
  }),
});

const importExpiry = z.int().min(1).max(MAX_EXPIRY_SECONDS).optional().meta({
  description:
    "For how many seconds the payment can be captured; never longer than the gateway keeps the money.",
});

/** An authorization made elsewhere. Its amount and currency are the gateway's to say. */
export const importRequest = z.strictObject({
  gatewayReference: text(255).meta({
    description:
      "What the gateway calls the authorization: `pi_…` at Stripe, with your merchant in its metadata (`holdfast_merchant`); the simulated gateway knows `ext_1250_eur_<name>.for_<merchant>`.",
  }),
  reference: text(255).optional(),
  metadata: metadata.optional(),
  expiresIn: importExpiry,
});

/** What `POST /payments` takes: one or the other. */
export const newPaymentRequest = z.union([authorizeRequest, importRequest]);

const partialAmount = {
  amount: amountIn.optional(),
  currency: currencyIn.optional().meta({ description: "If given, it has to be the payment's." }),
};

export const captureRequest = z.strictObject(partialAmount);

export const voidRequest = z.strictObject({});

export const refundRequest = z.strictObject(partialAmount);

/** What a person found out at the gateway. */
export const reviewRequest = z.strictObject({
  outcome: z.enum(["moved", "not_moved", "pending"]).meta({
    description:
      "Whether the money moved. `pending`: the gateway has not decided either; the review goes on, and the next " +
      "question is put off for a day.",
  }),
  evidence: text(2_000).meta({
    description: "How one knows: where one looked, and what was there. It stays in the payment's history.",
  }),
  gatewayReference: text(255).optional().meta({
    description:
      "What the gateway calls the authorization or the movement; needed when an authorization turns out to have succeeded.",
  }),
  overrideReason: text(2_000).optional().meta({
    description:
      "Why the verdict is right although the gateway says something else. It stays in the payment's history.",
  }),
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

export const pageQuery = z.strictObject({
  limit: z.int().min(1).max(100).default(20).meta({ description: "How many at most." }),
  cursor: z
    .string()
    .regex(/^[\x21-\x7e]{1,1024}$/, "is not a cursor")
    .optional()
    .meta({ description: "`nextCursor` of the page before." }),
});

/** Enough for all of nearly every payment, so that whoever asks once has read it. */
export const eventQuery = pageQuery.extend({
  limit: z.int().min(1).max(1_000).default(1_000).meta({ description: "How many at most." }),
});

export const listQuery = pageQuery.extend({
  status: z.enum(visibleStatuses).optional(),
  reference: text(255).optional(),
  createdFrom: instantIn.optional().meta({ description: "Inclusive." }),
  createdTo: instantIn.optional().meta({ description: "Exclusive." }),
});
