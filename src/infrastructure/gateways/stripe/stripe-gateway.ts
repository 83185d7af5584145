import type Stripe from "stripe";
import type {
  AuthorizationLookup,
  LookupAnswer,
  LookupRequest,
} from "../../../application/ports/authorization-lookup";
import type {
  AuthorizeRequest,
  FindAnswer,
  FindRequest,
  GatewayAnswer,
  MovementRequest,
  PaymentGateway,
  PictureAnswer,
  PictureRequest,
} from "../../../application/ports/payment-gateway";
import { formatMoney } from "../../../domain/money";
import type { OperationKind } from "../../../domain/payment/operation";
import type { AccountSecrets } from "../../../application/ports/accounts/account-secrets";
import { StripeClients, type StripeCall, type StripeClientParts } from "./accounts/stripe-clients";
import { toStripeAmount } from "./stripe-amount";
import { openStripeClient } from "./stripe-client";
import { meaningOf } from "./stripe-errors";
import {
  authorizeEvidence,
  captureEvidence,
  operationIdIn,
  PAYMENT_ID,
  refundEvidence,
  voidEvidence,
} from "./stripe-evidence";
import { evidence, findByObjects, findCapture, findRefund, retrieveIntent, evidenceOf } from "./stripe-find";
import { lookedUp } from "./stripe-lookup";
import { drawPicture } from "./stripe-picture";
import { seePaymentIntent, seeRefund } from "./stripe-objects";
import { StripeEventList } from "./events/stripe-event-list";
import { StripeTransport } from "./stripe-transport";

export interface StripeGatewayOptions {
  readonly apiKey: string;
  /** Base address; Stripe's own if absent. */
  readonly url?: string;
  readonly transport?: StripeTransport;
  /** Keys of merchants' own accounts; none if absent. */
  readonly keyOf?: AccountSecrets["keyOf"];
}

type Sent = Omit<MovementRequest, "authorizationReference"> & { readonly kind: OperationKind };

/** Stripe keeps a key for at least this long. */
const REMEMBERS_KEYS_FOR_MS = 24 * 3_600_000;
/**
 * Stripe names no time for a refund that waits for the account's balance or for the customer. This is our patience, longer
 * than what banks take; after it a person looks.
 */
const DECIDES_WITHIN_MS = 45 * 24 * 3_600_000;

/**
 * Excludes nobody; Stripe captures an authorization once, and carries out an idempotency key once.
 * Survives whatever Stripe survives, for 24 hours by the key and after that by what its objects say.
 * Not for actions of the customer that are no page to go to: those are authorized in the browser and imported.
 */
export class StripeGateway implements PaymentGateway, AuthorizationLookup {
  readonly remembersKeysForMs = REMEMBERS_KEYS_FOR_MS;
  readonly decidesWithinMs = DECIDES_WITHIN_MS;
  readonly eventList: StripeEventList;

  private readonly clients: StripeClients;

  private constructor(
    common: Stripe.Stripe,
    private readonly transport: StripeTransport,
    keys: Pick<StripeClientParts, "open" | "keyOf"> = { open: () => common, keyOf: async () => null },
  ) {
    this.clients = new StripeClients({ common, ...keys });
    this.eventList = new StripeEventList(this.clients);
  }

  static open({
    apiKey,
    url,
    transport = new StripeTransport(),
    keyOf = async () => null,
  }: StripeGatewayOptions): StripeGateway {
    const open = (key: string) => openStripeClient(key, url, transport);
    return new StripeGateway(open(apiKey), transport, { open, keyOf });
  }

  /** Closes idle connections. */
  close(): void {
    this.transport.close();
  }

  authorize(request: AuthorizeRequest): Promise<GatewayAnswer> {
    return this.sendAmount({ ...request, kind: "authorize" }, async (amount, { stripe, options }) => {
      const intent = await stripe.paymentIntents.create(
        {
          amount,
          currency: request.amount.currency.toLowerCase(),
          payment_method: request.paymentMethod,
          capture_method: "manual",
          confirm: true,
          ...confirmation(request.returnUrl),
          metadata: labels("authorize", request),
          // Has the end of the authorization in it.
          expand: ["latest_charge"],
        },
        { idempotencyKey: request.gatewayKey, ...options() },
      );
      return evidence(seePaymentIntent(intent), (seen) => authorizeEvidence(seen, request));
    });
  }

  capture(request: MovementRequest): Promise<GatewayAnswer> {
    const { authorizationReference } = request;
    return this.sendAmount(
      { ...request, kind: "capture" },
      async (amount, { stripe, options }) => {
        const intent = await stripe.paymentIntents.capture(
          authorizationReference,
          // `final_capture` is the default: a capture of a part lets go of the rest.
          { amount_to_capture: amount, metadata: labels("capture", request) },
          { idempotencyKey: request.gatewayKey, ...options() },
        );
        const seen = seePaymentIntent(intent);
        return evidenceOf(authorizationReference, seen, (found) => captureEvidence(found, request));
      },
      (_reason, { stripe, options }) => findCapture(stripe, request, options),
    );
  }

  void(request: MovementRequest): Promise<GatewayAnswer> {
    const { authorizationReference } = request;
    return this.send(
      { ...request, kind: "void" },
      async ({ stripe, options }) => {
        const intent = await stripe.paymentIntents.cancel(
          authorizationReference,
          { cancellation_reason: "requested_by_customer" },
          { idempotencyKey: request.gatewayKey, ...options() },
        );
        const seen = seePaymentIntent(intent);
        return evidenceOf(authorizationReference, seen, (found) => voidEvidence(found, request));
      },
      async (_reason, { stripe, options }): Promise<FindAnswer> => {
        // This key was refused, so whatever ended the authorization, it was not this void.
        const seen = await retrieveIntent(stripe, authorizationReference, options);
        return evidenceOf(authorizationReference, seen, (found) => {
          if (found.status === "canceled") return { outcome: "authorization_gone", reason: "canceled" };
          if (found.status === "succeeded") return voidEvidence(found, request);
          return { outcome: "unknown", reason: found.status };
        });
      },
    );
  }

  refund(request: MovementRequest): Promise<GatewayAnswer> {
    const { authorizationReference } = request;
    return this.sendAmount(
      { ...request, kind: "refund" },
      async (amount, { stripe, options }) => {
        const refund = await stripe.refunds.create(
          { payment_intent: authorizationReference, amount, metadata: labels("refund", request) },
          { idempotencyKey: request.gatewayKey, ...options() },
        );
        return evidence(seeRefund(refund), (seen) => refundEvidence(seen, authorizationReference, request));
      },
      async (reason, { stripe, options }) => {
        const found = await findRefund(stripe, request, options);
        return found.outcome === "absent" ? { outcome: "declined", reason } : found;
      },
    );
  }

  async find(request: FindRequest): Promise<FindAnswer> {
    // Nothing can be compared with it, and "absent" would have it sent again: whatever Stripe has, a person has to see.
    if (request.kind !== "void" && toStripeAmount(request.amount) === "currency_unit_unknown") {
      return {
        outcome: "mismatch",
        evidence: `currency_unit_unknown: it is not certain what ${formatMoney(request.amount)} means at Stripe`,
      };
    }
    try {
      const { stripe, options } = await this.clients.call(request);
      return await findByObjects(stripe, request, options);
    } catch (error) {
      return { outcome: "unknown", reason: meaningOf(error).reason };
    }
  }

  async picture(request: PictureRequest): Promise<PictureAnswer> {
    try {
      const { stripe, options } = await this.clients.call(request);
      return await drawPicture(stripe, request, options);
    } catch (error) {
      return { outcome: "unknown", reason: meaningOf(error).reason };
    }
  }

  async lookupAuthorization(request: LookupRequest): Promise<LookupAnswer> {
    const { reference } = request;
    return lookedUp(reference, async () => {
      const { stripe, options } = await this.clients.call(request);
      return stripe.paymentIntents.retrieve(reference, { expand: ["latest_charge"] }, options());
    });
  }

  /** Nothing is sent of an amount that Stripe has no number for, in no copy of it: so this is for good. */
  private async sendAmount(
    request: Sent,
    call: (amount: number, at: StripeCall) => Promise<FindAnswer>,
    look?: (reason: string, at: StripeCall) => Promise<FindAnswer>,
  ): Promise<GatewayAnswer> {
    const amount = toStripeAmount(request.amount);
    if (typeof amount === "string") return { outcome: "declined", reason: amount };
    return this.send(request, (at) => call(amount, at), look);
  }

  /** One request that moves money and, where its refusal leaves open why, one question about the state of things. */
  private async send(
    request: Sent,
    call: (at: StripeCall) => Promise<FindAnswer>,
    look?: (reason: string, at: StripeCall) => Promise<FindAnswer>,
  ): Promise<GatewayAnswer> {
    let at: StripeCall | undefined;
    try {
      at = await this.clients.call(request);
      return answer(await call(at));
    } catch (error) {
      const { outcome, reason, refused } = meaningOf(error, request.kind);
      if (outcome === "not_sent") return { outcome, reason, ...(refused && { refused }) };
      if (outcome !== "look") return { outcome, reason };
      const found = at && (await look?.(reason, at).catch(() => undefined));
      return found === undefined || found.outcome === "absent"
        ? { outcome: "unknown", reason }
        : answer(found);
    }
  }
}

/** Where the customer cannot be sent to their bank's page, refused now is better than undecided for ever. */
function confirmation(returnUrl: string | undefined) {
  return returnUrl === undefined
    ? {
        error_on_requires_action: true,
        automatic_payment_methods: { enabled: true, allow_redirects: "never" as const },
      }
    : {
        return_url: returnUrl,
        automatic_payment_methods: { enabled: true, allow_redirects: "always" as const },
      };
}

function labels(
  kind: keyof typeof operationIdIn,
  { paymentId, operationId }: { readonly paymentId: string; readonly operationId: string },
): Record<string, string> {
  return { [PAYMENT_ID]: paymentId, [operationIdIn[kind]]: operationId };
}

/** What was just done leaves no room for "not there". */
function answer(found: FindAnswer): GatewayAnswer {
  return found.outcome === "absent" ? { outcome: "unknown", reason: "accepted, and not done" } : found;
}
