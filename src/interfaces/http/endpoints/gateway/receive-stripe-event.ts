import { z } from "zod";
import { answerSchema, requestSchema } from "../../openapi/schema-names";
import { bodyBytes } from "../../requests/json-body";
import { endpoint } from "../endpoint";
import type { ReceiveParts } from "./gateway-event-parts";

/** Several times what Stripe's events are. */
const LIMIT_BYTES = 256 * 1024;

const stripeEvent = requestSchema(
  "StripeEvent",
  z
    .looseObject({ object: z.literal("event"), id: z.string(), type: z.string() })
    .meta({ description: "As Stripe documents it. At most 256 KiB." }),
);

const receivedAnswer = answerSchema(
  "ReceivedGatewayEvent",
  z.strictObject({
    received: z.enum(["accepted", "duplicate", "ignored"]).meta({
      description:
        "`accepted`: the gateway is asked about the payment. `duplicate`: this event came before. `ignored`: it cannot be " +
        "about a payment.",
    }),
  }),
);

/** The signature is looked at before the body is read, and the body is parsed once the signature fits it. */
export const receiveStripeEvent = endpoint<ReceiveParts>()({
  method: "post",
  path: "/gateway-events/stripe",
  operationId: "receiveStripeEvent",
  tag: "Gateway events",
  summary: "Receive an event from Stripe",
  description:
    "For a webhook endpoint at Stripe, with Stripe as the gateway and a signing secret. Takes no API key: Stripe's " +
    "signature is the proof. An event is a hint, never evidence: it says which payment Stripe is asked about.",
  access: "open",
  requiredHeaders: {
    "Stripe-Signature": "Stripe's signature of the body, at most five minutes old; one `v1` for each secret.",
  },
  unreadBody: stripeEvent,
  answers: { 200: { description: "Received, and durable.", schema: receivedAnswer } },
  problems: [
    "gateway_signature_missing",
    "gateway_signature_invalid",
    "gateway_signature_expired",
    "gateway_event_invalid",
    "malformed_json",
    "malformed_request",
    "body_too_large",
    "service_unavailable",
    "route_not_found",
  ],
  async handle({ request, response }, { receiveGatewayEvent }) {
    const receive = receiveGatewayEvent.expect(request.get("stripe-signature"));
    const received = await receive(await bodyBytes(request, response, LIMIT_BYTES));
    return { status: 200, body: { received } };
  },
});
