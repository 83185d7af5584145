import { z } from "zod";
import { parseMerchantId } from "../../../domain/identifiers";
import { parseWebhookDeliveryId, parseWebhookEndpointId } from "../../../domain/webhooks/webhook-endpoint";
import type { InMemoryWebhookStore } from "../memory/webhooks/in-memory-webhook-store";

const instant = z.codec(z.iso.datetime(), z.date(), {
  decode: (text) => new Date(text),
  encode: (date) => date.toISOString(),
});
function parsed<T extends string>(parse: (text: string) => T) {
  return z.codec(z.string(), z.custom<T>(), { decode: (text) => parse(text), encode: (value) => value });
}

/** With its secrets sealed: a snapshot signs nothing without the key. */
const endpoint = z.strictObject({
  id: parsed(parseWebhookEndpointId),
  merchant: parsed(parseMerchantId),
  url: z.string(),
  types: z.array(z.string()).readonly().nullable(),
  description: z.string().nullable(),
  ordered: z.boolean(),
  secrets: z.strictObject({
    current: z.string(),
    previous: z.strictObject({ sealed: z.string(), until: instant }).nullable(),
  }),
  createdAt: instant,
  updatedAt: instant,
  disabled: z.strictObject({ at: instant, reason: z.enum(["gone", "failing", "merchant"]) }).nullable(),
  failing: z.strictObject({ since: instant, last: instant }).nullable(),
});

const delivery = z.strictObject({
  id: parsed(parseWebhookDeliveryId),
  endpointId: parsed(parseWebhookEndpointId),
  eventId: z.string(),
  eventType: z.string(),
  eventAt: instant,
  line: z.string(),
  position: z.int().min(0),
  body: z.string(),
  createdAt: instant,
  status: z.enum(["pending", "delivered", "failed"]),
  attempts: z.int().min(0),
  dueAt: instant.nullable(),
  settledAt: instant.nullable(),
  lastAttempt: z
    .strictObject({
      at: instant,
      status: z.int().nullable(),
      failure: z
        .enum([
          "status",
          "timeout",
          "address_forbidden",
          "name_unknown",
          "tls",
          "connection",
          "secret_unreadable",
        ])
        .nullable(),
      answer: z.string(),
      tookMs: z.int().min(0),
    })
    .nullable(),
});

const snapshotSchema = z.strictObject({
  format: z.literal(1),
  state: z.strictObject({ position: z.int().min(0), generation: z.int().min(0) }),
  endpoints: z.array(z.strictObject({ endpoint, startsAfter: z.int().min(0) })),
  deliveries: z.array(delivery),
});

type Content = ReturnType<InMemoryWebhookStore["content"]>;

/** JSON. */
export function webhooksSnapshot({ endpoints, deliveries, state }: Content): unknown {
  return z.encode(snapshotSchema, {
    format: 1,
    state: { ...state },
    endpoints: endpoints.map((one) => ({ ...one })),
    deliveries: deliveries.map((one) => ({ ...one })),
  });
}

/** Throws, naming the field, on anything that is not such a snapshot. */
export function restoredWebhooks(snapshot: unknown): Content {
  const read = snapshotSchema.safeParse(snapshot);
  if (!read.success) throw new Error(`not a snapshot of webhooks: ${z.prettifyError(read.error)}`);
  return read.data;
}
