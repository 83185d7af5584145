import { actBehind } from "../../requests/audit/act-behind";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { oneDeliveryAnswer, presentDelivery } from "./webhook-answers";
import type { WebhookParts } from "./webhook-parts";

export const redeliverWebhook = endpoint<WebhookParts>()({
  method: "post",
  path: "/webhook-deliveries/:webhookDeliveryId/redeliver",
  operationId: "redeliverWebhook",
  tag: "Webhooks",
  summary: "Deliver once more",
  description: "With the same id and body, from the first attempt on, whatever became of it.",
  access: "merchant",
  audited: true,
  answers: { 202: { description: "Under way.", schema: oneDeliveryAnswer } },
  problems: [
    "invalid_webhook_delivery_id",
    "webhook_delivery_not_found",
    "webhook_delivery_pending",
    "webhook_endpoint_disabled",
  ],
  async handle({ request, response, ids }, { inWebhooks, lifecycle }) {
    lifecycle.assertServing();
    const act = actBehind(request, response);
    const { merchant, operator } = callerOf(response);
    const delivery = await inWebhooks(({ webhookDeliveries }) =>
      webhookDeliveries.redeliver(ids.webhookDeliveryId, merchant, act),
    );
    return { status: 202, body: { delivery: presentDelivery(delivery, operator) } };
  },
});
