import { z } from "zod";
import { answerSchema, requestSchema } from "../../openapi/schema-names";
import { actBehind } from "../../requests/audit/act-behind";
import { callerOf } from "../../requests/request-context";
import { instantIn } from "../../requests/wire-values";
import { endpoint } from "../endpoint";
import { oneEndpointProblems, type WebhookParts } from "./webhook-parts";

const replayRequest = requestSchema(
  "ReplayWebhooksRequest",
  z
    .strictObject({ from: instantIn, to: instantIn })
    .refine(({ from, to }) => from <= to, { message: "from is after to", path: ["from"] }),
);

const replayedAnswer = answerSchema(
  "ReplayedWebhooks",
  z.strictObject({ replayed: z.int().min(0).meta({ description: "How many events." }) }),
);

export const replayWebhooks = endpoint<WebhookParts>()({
  method: "post",
  path: "/webhook-endpoints/:webhookEndpointId/replay",
  operationId: "replayWebhooks",
  tag: "Webhooks",
  summary: "Deliver all events of a time once more",
  description:
    "Those of the types that the endpoint wants now, also from before it was made or while it was disabled, each with the " +
    "id that it always had.",
  access: "merchant",
  audited: true,
  body: replayRequest,
  answers: { 202: { description: "Under way.", schema: replayedAnswer } },
  problems: [...oneEndpointProblems, "webhook_endpoint_disabled", "webhook_replay_too_long"],
  async handle({ request, response, ids, body }, { inWebhooks, lifecycle }) {
    lifecycle.assertServing();
    const act = actBehind(request, response);
    const replayed = await inWebhooks(({ webhookDeliveries }) =>
      webhookDeliveries.replay(ids.webhookEndpointId, callerOf(response).merchant, body, act),
    );
    return { status: 202, body: { replayed } };
  },
});
