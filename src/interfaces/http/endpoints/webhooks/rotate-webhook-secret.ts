import { z } from "zod";
import { requestSchema } from "../../openapi/schema-names";
import { actBehind } from "../../requests/audit/act-behind";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { endpointWithSecretAnswer, presentEndpoint } from "./webhook-answers";
import { oneEndpointProblems, secretProblems, type WebhookParts } from "./webhook-parts";

const DAY_SECONDS = 86_400;

const rotateRequest = requestSchema(
  "RotateWebhookSecretRequest",
  z.strictObject({
    overlapSeconds: z
      .int()
      .min(0)
      .max(30 * DAY_SECONDS)
      .default(DAY_SECONDS)
      .meta({
        description:
          "For how long deliveries carry signatures by both secrets. 0: all former ones are void now.",
      }),
  }),
);

export const rotateWebhookSecret = endpoint<WebhookParts>()({
  method: "post",
  path: "/webhook-endpoints/:webhookEndpointId/rotate-secret",
  operationId: "rotateWebhookSecret",
  tag: "Webhooks",
  summary: "Get a new secret",
  description:
    "Teach the receiver the new one within the overlap: until it is over, either secret verifies every delivery. " +
    "Until then there is no third one (`rotation_under_way`, with `previousSecretUntil`), unless `overlapSeconds` is 0.",
  access: "merchant",
  audited: true,
  body: rotateRequest,
  answers: { 200: { description: "The new secret, this once.", schema: endpointWithSecretAnswer } },
  problems: [...oneEndpointProblems, ...secretProblems, "webhook_endpoint_busy", "rotation_under_way"],
  async handle({ request, response, ids, body }, { inWebhooks, lifecycle }) {
    lifecycle.assertServing();
    const act = actBehind(request, response);
    const rotated = await inWebhooks(({ webhookEndpoints }) =>
      webhookEndpoints.rotateSecret(
        ids.webhookEndpointId,
        callerOf(response).merchant,
        body.overlapSeconds,
        act,
      ),
    );
    return { status: 200, body: { endpoint: presentEndpoint(rotated.endpoint), secret: rotated.secret } };
  },
});
