import { z } from "zod";
import { answerSchema, requestSchema } from "../../openapi/schema-names";
import { bodyBytes } from "../../requests/json-body";
import { endpoint } from "../endpoint";
import type { ReceiveForAccountParts, ReceiveParts } from "./gateway-event-parts";

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

const ABOUT_EVENTS =
  "Takes no API key: Stripe's signature is the proof. An event is a hint, never evidence: it says which payment Stripe is " +
  "asked about.";

const common = {
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
} as const;

/** The signature is looked at before the body is read, and the body is parsed once the signature fits it. */
export const receiveStripeEvent = endpoint<ReceiveParts>()({
  method: "post",
  path: "/gateway-events/stripe",
  operationId: "receiveStripeEvent",
  tag: "Gateway events",
  summary: "Receive an event from Stripe",
  description:
    "For a webhook endpoint at Stripe, with Stripe as the gateway and a signing secret: for events of its account, and for " +
    `those of connected accounts. ${ABOUT_EVENTS}`,
  ...common,
  async handle({ request, response }, { receiveGatewayEvent }) {
    const receive = await receiveGatewayEvent.expect(request.get("stripe-signature"));
    const received = await receive(await bodyBytes(request, response, LIMIT_BYTES));
    return { status: 200, body: { received } };
  },
});

export const receiveStripeAccountEvent = endpoint<ReceiveForAccountParts>()({
  method: "post",
  path: "/gateway-events/stripe/:gatewayAccount",
  operationId: "receiveStripeAccountEvent",
  tag: "Gateway events",
  summary: "Receive an event from an account at Stripe that has a key of its own",
  description:
    "For a webhook endpoint that a merchant's own account has, with the signing secrets that were set with the account's " +
    `key. ${ABOUT_EVENTS}`,
  ...common,
  async handle({ request, response, ids: { gatewayAccount } }, { receiveAccountEvent }) {
    const receive = await receiveAccountEvent.expect(request.get("stripe-signature"), gatewayAccount);
    const received = await receive(await bodyBytes(request, response, LIMIT_BYTES));
    return { status: 200, body: { received } };
  },
});
