import { publicEventTypes } from "../../../application/public-events/public-event";
import { publicEventAnswer } from "../endpoints/events/event-answers";
import { schemaReference } from "./component-schemas";

const headers = {
  "webhook-id": "The event's id: the same at each attempt, so a duplicate is known by it.",
  "webhook-timestamp": "When this attempt was made, in seconds since 1970. Refuse what is minutes off.",
  "webhook-signature":
    "`v1,` and the base64 of an HMAC-SHA256 of `id.timestamp.body` with the endpoint's secret; two of them, with a space " +
    "between, while a secret is being rotated.",
} as const;

/** What is posted to endpoints of merchants, by type of event: the very schema of the feed. */
export function documentedWebhooks(): Readonly<Record<string, object>> {
  return Object.fromEntries(publicEventTypes.map((type) => [type, { post: delivery(type) }]));
}

function delivery(type: (typeof publicEventTypes)[number]): object {
  const schema = {
    allOf: [schemaReference(publicEventAnswer), { properties: { type: { const: type } } }],
  };
  return {
    operationId: `on_${type.replace(".", "_")}`,
    tags: ["Webhooks"],
    // The signature says who sends it.
    security: [],
    summary: `An event ${type}, signed by Standard Webhooks`,
    parameters: Object.entries(headers).map(([name, description]) => ({
      name,
      in: "header",
      required: true,
      description,
      schema: { type: "string" },
    })),
    requestBody: { required: true, content: { "application/json": { schema } } },
    responses: {
      "2XX": { description: "Taken. Answer within 15 s." },
      "410": { description: "There will be nobody any more: the endpoint is disabled." },
      default: {
        description:
          "Not taken, redirects included: it is sent again, ten times in all, over about 76 hours.",
      },
    },
  };
}
