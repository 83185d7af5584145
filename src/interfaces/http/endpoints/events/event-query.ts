import { z } from "zod";
import { budgets } from "../../../../application/time-budgets";
import { publicEventTypes, type PublicEventType } from "../../../../application/public-events/public-event";
import { parsePaymentId } from "../../../../domain/identifiers";
import type { QueryCodes } from "../endpoint";
import { NOT_OF_THIS_FEED } from "./event-cursor";

/** As long as any request may take: proxies are set to wait a little longer. */
const MAX_WAIT_SECONDS = budgets.httpMs / 1_000;

export const eventQuery = z.strictObject({
  after: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,40}$/, NOT_OF_THIS_FEED)
    .optional()
    .meta({
      description:
        "`nextCursor` of the answer before, from this very feed. `latest`: only what comes from now on. Default: from the beginning.",
    }),
  types: z
    .string()
    .max(1_000)
    .transform((list, context): readonly PublicEventType[] => {
      const names = list.split(",");
      const unknown = names.filter((name) => !isPublicEventType(name));
      if (unknown.length === 0) return [...new Set(names)] as PublicEventType[];
      context.addIssue({ code: "custom", message: `knows ${publicEventTypes.join(", ")}`, input: list });
      return z.NEVER;
    })
    .optional()
    .meta({ description: `Only these, separated by commas: ${publicEventTypes.join(", ")}.` }),
  paymentId: z
    .string()
    .transform((id, context) => {
      try {
        return parsePaymentId(id);
      } catch {
        context.addIssue({ code: "custom", message: "is not a UUID", input: id });
        return z.NEVER;
      }
    })
    .optional()
    .meta({ description: "Only of this payment." }),
  limit: z.int().min(1).max(1_000).default(100).meta({ description: "How many at most." }),
  wait: z
    .int()
    .min(0)
    .max(MAX_WAIT_SECONDS)
    .default(0)
    .meta({ description: "Seconds to wait for an event where there is none yet." }),
});

/** Each has a code of its own. */
export const eventQueryCodes: QueryCodes = {
  after: "invalid_event_cursor",
  types: "invalid_event_type",
  paymentId: "invalid_payment_id",
  limit: "invalid_limit",
  wait: "invalid_wait",
};

function isPublicEventType(name: string): name is PublicEventType {
  return (publicEventTypes as readonly string[]).includes(name);
}
