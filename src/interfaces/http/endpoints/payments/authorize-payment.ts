import { z } from "zod";
import type { Caller } from "../../../../application/operations/caller";
import type { IdempotencyKey } from "../../../../domain/identifiers";
import { money } from "../../../../domain/money";
import { collectionOf } from "../../requests/answer";
import { requestSchema } from "../../openapi/schema-names";
import { amountIn, currencyIn, text } from "../../requests/wire-values";
import type { Given } from "../../requests/without-undefined";
import { endpoint } from "../endpoint";
import { asCallerInWorld, statusAndHeaders, keyProblems, lockProblems } from "./movement";
import { onePaymentAnswer } from "./payment-answers";
import { labelsFrom, labelsIn } from "./payment-labels";
import type { PaymentParts, PaymentWorld } from "./payment-parts";
import { presentPayment } from "./present-payment";
import { returnUrlIn } from "../../requests/return-url";

const DAY_SECONDS = 86_400;
const DEFAULT_EXPIRY_SECONDS = 7 * DAY_SECONDS;
/** No card scheme keeps money reserved for longer. */
const MAX_EXPIRY_SECONDS = 31 * DAY_SECONDS;

const expiry = z.int().min(1).max(MAX_EXPIRY_SECONDS);
const EXPIRY =
  "For how many seconds the payment can be captured; never longer than the gateway holds the money.";

const authorizeRequest = requestSchema(
  "AuthorizeRequest",
  z.strictObject({
    amount: amountIn,
    currency: currencyIn,
    paymentMethod: text(255).meta({
      description:
        "The gateway's token for a card. The simulated gateway accepts `tok_ok`, `tok_capture_decline` and more.",
    }),
    returnUrl: returnUrlIn.optional(),
    ...labelsIn,
    reference: labelsIn.reference.meta({
      description: "Your own name for the payment; lists can be filtered by it.",
    }),
    expiresIn: expiry.default(DEFAULT_EXPIRY_SECONDS).meta({ description: EXPIRY }),
  }),
);

/** An authorization made elsewhere. Its amount and currency are the gateway's to say. */
const importRequest = requestSchema(
  "ImportRequest",
  z.strictObject({
    gatewayReference: text(255).meta({
      description:
        "The gateway's reference for the authorization: `pi_…` at Stripe, with your merchant in its metadata (`holdfast_merchant`); the simulated gateway accepts `ext_1250_eur_<name>.for_<merchant>`.",
    }),
    ...labelsIn,
    expiresIn: expiry.optional().meta({ description: EXPIRY }),
  }),
);

/** Of what kind a request is, its members tell. */
export function newPaymentSchema(sent: unknown): typeof authorizeRequest | typeof importRequest {
  const isImport = typeof sent === "object" && sent !== null && "gatewayReference" in sent;
  return isImport ? importRequest : authorizeRequest;
}

type Wanted = Given<z.output<typeof authorizeRequest>> | Given<z.output<typeof importRequest>>;

export const authorizePayment = endpoint<PaymentParts>()({
  method: "post",
  path: "/payments",
  operationId: "authorizePayment",
  tag: "Payments",
  summary: "Authorize an amount, or import an authorization made elsewhere",
  description:
    "The idempotency key belongs to the merchant: the same key with the same body is the same payment, for ever. " +
    "With `gatewayReference` nothing is charged: the gateway is asked about an existing authorization, for example one " +
    "made in a browser, and one payment is created from it. Its metadata must name the merchant (`holdfast_merchant`), " +
    "or the API key must be an operator's; any other authorization is answered as if it did not exist.",
  access: "merchant",
  movesMoney: true,
  body: requestSchema("NewPaymentRequest", z.union([authorizeRequest, importRequest])),
  bodyFor: newPaymentSchema,
  answers: {
    201: {
      description:
        "Authorized; or `requires_action`: send the customer to `nextAction.url`, and ask for the payment when they come back to " +
        "`returnUrl`.",
      schema: onePaymentAnswer,
      headers: ["Location", "Idempotency-Replayed"],
    },
    202: {
      description:
        "The gateway has not confirmed the outcome yet: the payment is `authorizing`. Repeat the request with the same key.",
      schema: onePaymentAnswer,
      headers: ["Location", "Retry-After"],
    },
  },
  problems: [
    ...keyProblems,
    ...lockProblems,
    "authorization_declined",
    "payment_expired",
    "payment_voided",
    "authorization_not_found",
    "authorization_not_capturable",
    "authorization_already_imported",
    "authorize_in_progress",
    "payment_busy",
    "gateway_unavailable",
    "gateway_access_refused",
  ],
  async handle(asked, parts) {
    const { request, body, key } = asked;
    const outcome = await asCallerInWorld(asked, parts, (world, caller) =>
      beginPayment(world, body, key, caller),
    );
    const stands = statusAndHeaders(outcome);
    const location = `${collectionOf(request)}/${outcome.payment.facts.id}`;
    return {
      ...stands,
      headers: { ...stands.headers, Location: location },
      body: { payment: presentPayment(outcome.payment, parts) },
    };
  },
});

export function beginPayment(
  world: Pick<PaymentWorld, "authorizePayment" | "importAuthorization">,
  wanted: Wanted,
  idempotencyKey: IdempotencyKey,
  caller: Caller,
) {
  const own = { idempotencyKey, ...labelsFrom(wanted) };
  if ("gatewayReference" in wanted) {
    const { gatewayReference, expiresIn = null } = wanted;
    const command = { ...own, gatewayReference, expiresInSeconds: expiresIn };
    return world.importAuthorization.execute(command, caller);
  }
  const { amount, currency, paymentMethod, returnUrl, expiresIn } = wanted;
  const command = {
    ...own,
    amount: money(amount, currency),
    paymentMethod,
    returnUrl,
    expiresInSeconds: expiresIn,
  };
  return world.authorizePayment.execute(command, caller);
}
