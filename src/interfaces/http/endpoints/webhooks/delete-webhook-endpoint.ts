import { actBehind } from "../../requests/audit/act-behind";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { deletedEndpointAnswer } from "./webhook-answers";
import { oneEndpointProblems, type WebhookParts } from "./webhook-parts";

export const deleteWebhookEndpoint = endpoint<WebhookParts>()({
  method: "delete",
  path: "/webhook-endpoints/:webhookEndpointId",
  operationId: "deleteWebhookEndpoint",
  tag: "Webhooks",
  summary: "Delete a webhook endpoint, with its secret and its deliveries",
  access: "merchant",
  audited: true,
  answers: { 200: { description: "Gone.", schema: deletedEndpointAnswer } },
  problems: oneEndpointProblems,
  async handle({ request, response, ids: { webhookEndpointId } }, { inWebhooks, lifecycle }) {
    lifecycle.assertServing();
    const act = actBehind(request, response);
    await inWebhooks(({ webhookEndpoints }) =>
      webhookEndpoints.delete(webhookEndpointId, callerOf(response).merchant, act),
    );
    return { status: 200, body: { deleted: webhookEndpointId } };
  },
});
