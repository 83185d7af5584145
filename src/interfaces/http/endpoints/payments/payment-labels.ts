import { z } from "zod";
import type { PaymentLabels } from "../../../../domain/labels";
import { metadata, text } from "../../requests/wire-values";
import type { Given } from "../../requests/without-undefined";

/** What a caller may write on a payment for their own use, in a request. */
export const labelsIn = {
  reference: text(255).optional(),
  metadata: metadata.optional(),
};

/** The same in an answer. */
export const labelsOut = {
  reference: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
};

export function labelsFrom(
  given: Given<{ reference?: string | undefined; metadata?: Record<string, string> | undefined }>,
): PaymentLabels {
  return { reference: given.reference ?? null, metadata: given.metadata ?? {} };
}
