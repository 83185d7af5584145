import { z } from "zod";
import { publicEventTypes } from "../../../../application/public-events/public-event";
import type { WebhookDelivery } from "../../../../application/ports/events/webhook-delivery-store";
import type { WebhookEndpoint } from "../../../../domain/webhooks/webhook-endpoint";
import { answerSchema } from "../../openapi/schema-names";
import { idOut, instantOut, text } from "../../requests/wire-values";

/** As they are sent: what is wrong with them has codes of its own. */
export const endpointFields = {
  url: z
    .string()
    .max(8_192)
    .meta({
      description:
        "Where to: `https://`, a public address, no credentials, no port of mail or databases. Each delivery looks again " +
        "where the name leads.",
    }),
  types: z
    .array(z.string().max(255))
    .min(1)
    .max(100)
    .nullable()
    .meta({ description: `Of which events: ${publicEventTypes.join(", ")}. Null: of all, also later ones.` }),
  description: text(500).nullable().meta({ description: "In your own words." }),
  ordered: z.boolean().meta({
    description:
      "The next event of a payment waits until the one before is delivered or has used up its schedule.",
  }),
};

const endpointAnswer = answerSchema(
  "WebhookEndpoint",
  z.strictObject({
    id: idOut,
    url: z.string(),
    types: z.array(z.string()).nullable(),
    description: z.string().nullable(),
    ordered: z.boolean(),
    enabled: z.boolean(),
    disabledAt: instantOut.nullable(),
    disabledReason: z.enum(["gone", "failing", "merchant"]).nullable().meta({
      description:
        "`gone`: it answered 410. `failing`: five days of failures and nothing else. `merchant`: by request.",
    }),
    failingSince: instantOut
      .nullable()
      .meta({ description: "The first failure since something was delivered." }),
    previousSecretUntil: instantOut
      .nullable()
      .meta({ description: "Until then deliveries carry a signature by the secret before, too." }),
    createdAt: instantOut,
    updatedAt: instantOut,
  }),
);

export const oneEndpointAnswer = answerSchema(
  "OneWebhookEndpoint",
  z.strictObject({ endpoint: endpointAnswer }),
);

export const endpointWithSecretAnswer = answerSchema(
  "WebhookEndpointWithSecret",
  z.strictObject({
    endpoint: endpointAnswer,
    secret: z.string().meta({ description: "`whsec_…`, to verify signatures with. Shown this once." }),
  }),
);

export const endpointListAnswer = answerSchema(
  "WebhookEndpointList",
  z.strictObject({ data: z.array(endpointAnswer), nextCursor: z.string().nullable() }),
);

export const deletedEndpointAnswer = answerSchema(
  "DeletedWebhookEndpoint",
  z.strictObject({ deleted: idOut }),
);

const deliveryAnswer = answerSchema(
  "WebhookDelivery",
  z.strictObject({
    id: idOut,
    endpointId: idOut,
    eventId: idOut.meta({ description: "The `webhook-id` of each attempt." }),
    type: z.string(),
    status: z.enum(["pending", "delivered", "failed"]),
    attempts: z.int().min(0),
    createdAt: instantOut,
    nextAttemptAt: instantOut.nullable(),
    settledAt: instantOut.nullable(),
    lastAttempt: z
      .strictObject({
        at: instantOut,
        status: z.int().nullable().meta({ description: "The receiver's; null where it did not answer." }),
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
        tookMs: z.int().min(0),
        answer: z
          .string()
          .optional()
          .meta({ description: "The first kilobyte of what was answered; shown to operators alone." }),
      })
      .nullable(),
  }),
);

export const oneDeliveryAnswer = answerSchema(
  "OneWebhookDelivery",
  z.strictObject({ delivery: deliveryAnswer }),
);

export const deliveryListAnswer = answerSchema(
  "WebhookDeliveryList",
  z.strictObject({ data: z.array(deliveryAnswer), nextCursor: z.string().nullable() }),
);

export function presentEndpoint(endpoint: WebhookEndpoint): z.output<typeof endpointAnswer> {
  const { id, url, types, description, ordered, disabled, failing, secrets } = endpoint;
  return {
    id,
    url,
    types: types === null ? null : [...types],
    description,
    ordered,
    enabled: disabled === null,
    disabledAt: disabled?.at.toISOString() ?? null,
    disabledReason: disabled?.reason ?? null,
    failingSince: failing?.since.toISOString() ?? null,
    previousSecretUntil: secrets.previous?.until.toISOString() ?? null,
    createdAt: endpoint.createdAt.toISOString(),
    updatedAt: endpoint.updatedAt.toISOString(),
  };
}

/** What a receiver answers may tell of a network that its merchant is not in: operators alone see it. */
export function presentDelivery(
  delivery: WebhookDelivery,
  isOperator: boolean,
): z.output<typeof deliveryAnswer> {
  const { id, endpointId, eventId, eventType, status, attempts, lastAttempt } = delivery;
  return {
    id,
    endpointId,
    eventId,
    type: eventType,
    status,
    attempts,
    createdAt: delivery.createdAt.toISOString(),
    nextAttemptAt: delivery.dueAt?.toISOString() ?? null,
    settledAt: delivery.settledAt?.toISOString() ?? null,
    lastAttempt:
      lastAttempt === null
        ? null
        : {
            at: lastAttempt.at.toISOString(),
            status: lastAttempt.status,
            failure: lastAttempt.failure,
            tookMs: lastAttempt.tookMs,
            ...(isOperator ? { answer: lastAttempt.answer } : {}),
          },
  };
}
