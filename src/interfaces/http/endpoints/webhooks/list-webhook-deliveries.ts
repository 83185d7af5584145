import { z } from "zod";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { pageQuery } from "../page-query";
import { deliveryListAnswer, presentDelivery } from "./webhook-answers";
import { oneEndpointProblems, type WebhookParts } from "./webhook-parts";

const deliveriesQuery = pageQuery.extend({
  status: z.enum(["pending", "delivered", "failed"]).optional().meta({
    description: "`failed`: its schedule is used up.",
  }),
});

export const listWebhookDeliveries = endpoint<WebhookParts>()({
  method: "get",
  path: "/webhook-endpoints/:webhookEndpointId/deliveries",
  operationId: "listWebhookDeliveries",
  tag: "Webhooks",
  summary: "List what was and will be delivered, newest first",
  description: "Settled ones are kept for 30 days.",
  access: "merchant",
  query: deliveriesQuery,
  answers: { 200: { description: "One page.", schema: deliveryListAnswer } },
  problems: [...oneEndpointProblems, "invalid_request", "invalid_webhook_cursor"],
  async handle({ response, ids, query }, { inWebhooks }) {
    const { merchant, operator } = callerOf(response);
    const { data, nextCursor } = await inWebhooks(({ webhookDeliveries }) =>
      webhookDeliveries.list(ids.webhookEndpointId, merchant, query),
    );
    return { status: 200, body: { data: data.map((one) => presentDelivery(one, operator)), nextCursor } };
  },
});
