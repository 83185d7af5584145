import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { oneEndpointAnswer, presentEndpoint } from "./webhook-answers";
import { oneEndpointProblems, type WebhookParts } from "./webhook-parts";

export const showWebhookEndpoint = endpoint<WebhookParts>()({
  method: "get",
  path: "/webhook-endpoints/:webhookEndpointId",
  operationId: "showWebhookEndpoint",
  tag: "Webhooks",
  summary: "A webhook endpoint as it is now, without its secret",
  access: "merchant",
  answers: { 200: { description: "As it is now.", schema: oneEndpointAnswer } },
  problems: oneEndpointProblems,
  async handle({ response, ids }, { inWebhooks }) {
    const found = await inWebhooks(({ webhookEndpoints }) =>
      webhookEndpoints.one(ids.webhookEndpointId, callerOf(response).merchant),
    );
    return { status: 200, body: { endpoint: presentEndpoint(found) } };
  },
});
