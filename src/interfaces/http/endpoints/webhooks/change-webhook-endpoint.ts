import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { actBehind } from "../../requests/audit/act-behind";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { endpointFields, oneEndpointAnswer, presentEndpoint } from "./webhook-answers";
import { oneEndpointProblems, wishProblems, type WebhookParts } from "./webhook-parts";

const changeRequest = requestSchema(
  "WebhookEndpointChangeRequest",
  z
    .strictObject({
      ...endpointFields,
      enabled: z.boolean().meta({
        description:
          "False: nothing is sent, and what happens meanwhile is not kept for it; replay it. What was pending waits.",
      }),
    })
    .partial(),
);

export const changeWebhookEndpoint = endpoint<WebhookParts>()({
  method: "patch",
  path: "/webhook-endpoints/:webhookEndpointId",
  operationId: "changeWebhookEndpoint",
  tag: "Webhooks",
  summary: "Change a webhook endpoint, or enable one that was disabled",
  description: "Fields that are left out stay as they are.",
  access: "merchant",
  audited: true,
  body: changeRequest,
  answers: { 200: { description: "Changed.", schema: oneEndpointAnswer } },
  problems: [...oneEndpointProblems, ...wishProblems],
  async handle({ request, response, ids, body }, { inWebhooks, lifecycle }) {
    lifecycle.assertServing();
    const act = actBehind(request, response);
    const changed = await inWebhooks(({ webhookEndpoints }) =>
      webhookEndpoints.change(ids.webhookEndpointId, callerOf(response).merchant, body, act),
    );
    return { status: 200, body: { endpoint: presentEndpoint(changed) } };
  },
});
