import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";
import { endpointListAnswer, presentEndpoint } from "./webhook-answers";
import type { WebhookParts } from "./webhook-parts";

export const listWebhookEndpoints = endpoint<WebhookParts>()({
  method: "get",
  path: "/webhook-endpoints",
  operationId: "listWebhookEndpoints",
  tag: "Webhooks",
  summary: "List webhook endpoints, oldest first",
  access: "merchant",
  query: pageQuery,
  answers: { 200: { description: "One page.", schema: endpointListAnswer } },
  problems: ["invalid_request", "invalid_webhook_cursor"],
  async handle({ response, query }, { inWebhooks }) {
    const { data, nextCursor } = await inWebhooks(({ webhookEndpoints }) =>
      webhookEndpoints.list(callerOf(response).merchant, query),
    );
    return { status: 200, body: { data: data.map(presentEndpoint), nextCursor } };
  },
});
