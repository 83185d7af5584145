import { z } from "zod";
import { collectionOf } from "../../requests/answer";
import { requestSchema } from "../../openapi/schema-names";
import { actBehind } from "../../requests/audit/act-behind";
import { callerOf } from "../../requests/request-context";
import { endpoint } from "../endpoint";
import { endpointFields, endpointWithSecretAnswer, presentEndpoint } from "./webhook-answers";
import { secretProblems, wishProblems, type WebhookParts } from "./webhook-parts";

const { url, types, description, ordered } = endpointFields;

const newEndpointRequest = requestSchema(
  "NewWebhookEndpointRequest",
  z.strictObject({
    url,
    types: types.optional(),
    description: description.optional(),
    ordered: ordered.default(true),
  }),
);

export const createWebhookEndpoint = endpoint<WebhookParts>()({
  method: "post",
  path: "/webhook-endpoints",
  operationId: "createWebhookEndpoint",
  tag: "Webhooks",
  summary: "Be told what happens",
  description:
    "Every event from now on is posted there, at least once, signed by Standard Webhooks. The answer carries the secret " +
    "to verify signatures with, this once.",
  access: "merchant",
  audited: true,
  body: newEndpointRequest,
  answers: { 201: { description: "Made.", schema: endpointWithSecretAnswer, headers: ["Location"] } },
  problems: [...wishProblems, ...secretProblems, "webhook_endpoint_limit_reached"],
  async handle({ request, response, body }, { inWebhooks, lifecycle }) {
    lifecycle.assertServing();
    const wish = {
      url: body.url,
      types: body.types ?? null,
      description: body.description ?? null,
      ordered: body.ordered,
    };
    const made = await inWebhooks(({ webhookEndpoints }) =>
      webhookEndpoints.create(callerOf(response).merchant, wish, actBehind(request, response)),
    );
    return {
      status: 201,
      headers: { Location: `${collectionOf(request)}/${made.endpoint.id}` },
      body: { endpoint: presentEndpoint(made.endpoint), secret: made.secret },
    };
  },
});
