import { actBehind } from "../../requests/audit/act-behind";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { oneDeliveryAnswer, presentDelivery } from "./webhook-answers";
import { oneEndpointProblems, type WebhookParts } from "./webhook-parts";

export const testWebhookEndpoint = endpoint<WebhookParts>()({
  method: "post",
  path: "/webhook-endpoints/:webhookEndpointId/test",
  operationId: "testWebhookEndpoint",
  tag: "Webhooks",
  summary: "Send a test event",
  description:
    "An event of type `webhook_endpoint.test`, the way of every other delivery: signed, tried again if need be, and to be " +
    "seen among the endpoint's deliveries.",
  access: "merchant",
  audited: true,
  answers: { 202: { description: "Under way.", schema: oneDeliveryAnswer } },
  problems: [...oneEndpointProblems, "webhook_endpoint_disabled"],
  async handle({ request, response, ids }, { inWebhooks, lifecycle }) {
    lifecycle.assertServing();
    const act = actBehind(request, response);
    const { merchant, operator } = callerOf(response);
    const delivery = await inWebhooks(({ webhookDeliveries }) =>
      webhookDeliveries.test(ids.webhookEndpointId, merchant, act),
    );
    return { status: 202, body: { delivery: presentDelivery(delivery, operator) } };
  },
});
