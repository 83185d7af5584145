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
import {
  evidence,
  findByObjects,
  findCapture,
  findRefund,
  retrieveIntent,
  callOptions,
  type CallOptions,
  evidenceOf,
} from "./stripe-find";
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
}

type Sent = Omit<MovementRequest, "authorizationReference"> & { readonly kind: OperationKind };

/** Stripe keeps a key for at least this long. */
const REMEMBERS_KEYS_FOR_MS = 24 * 3_600_000;

/**
 * Excludes nobody; Stripe captures an authorization once, and carries out an idempotency key once.
 * Survives whatever Stripe survives, for 24 hours by the key and after that by what its objects say.
 * Not for payment methods that redirect the customer: those are authorized in the browser and imported.
 */
export class StripeGateway implements PaymentGateway, AuthorizationLookup {
  readonly remembersKeysForMs = REMEMBERS_KEYS_FOR_MS;
  readonly eventList: StripeEventList;

  private constructor(
    private readonly stripe: Stripe.Stripe,
    private readonly transport: StripeTransport,
  ) {
    this.eventList = new StripeEventList(stripe);
  }

  static open({ apiKey, url, transport = new StripeTransport() }: StripeGatewayOptions): StripeGateway {
    return new StripeGateway(openStripeClient(apiKey, url, transport), transport);
  }

  /** Closes idle connections. */
  close(): void {
    this.transport.close();
  }

  authorize(request: AuthorizeRequest): Promise<GatewayAnswer> {
    return this.sendAmount({ ...request, kind: "authorize" }, async (amount, options) => {
      const intent = await this.stripe.paymentIntents.create(
        {
          amount,
          currency: request.amount.currency.toLowerCase(),
          payment_method: request.paymentMethod,
          capture_method: "manual",
          confirm: true,
          // Nobody is there to be sent to their bank's page: refused now is better than undecided for ever.
          error_on_requires_action: true,
          automatic_payment_methods: { enabled: true, allow_redirects: "never" },
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
      async (amount, options) => {
        const intent = await this.stripe.paymentIntents.capture(
          authorizationReference,
          // `final_capture` is the default: a capture of a part lets go of the rest.
          { amount_to_capture: amount, metadata: labels("capture", request) },
          { idempotencyKey: request.gatewayKey, ...options() },
        );
        const seen = seePaymentIntent(intent);
        return evidenceOf(authorizationReference, seen, (found) => captureEvidence(found, request));
      },
      (_reason, options) => findCapture(this.stripe, request, options),
    );
  }

  void(request: MovementRequest): Promise<GatewayAnswer> {
    const { authorizationReference } = request;
    return this.send(
      { ...request, kind: "void" },
      async (options) => {
        const intent = await this.stripe.paymentIntents.cancel(
          authorizationReference,
          { cancellation_reason: "requested_by_customer" },
          { idempotencyKey: request.gatewayKey, ...options() },
        );
        const seen = seePaymentIntent(intent);
        return evidenceOf(authorizationReference, seen, (found) => voidEvidence(found, request));
      },
      async (_reason, options): Promise<FindAnswer> => {
        // This key was refused, so whatever ended the authorization, it was not this void.
        const seen = await retrieveIntent(this.stripe, authorizationReference, options);
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
      async (amount, options) => {
        const refund = await this.stripe.refunds.create(
          { payment_intent: authorizationReference, amount, metadata: labels("refund", request) },
          { idempotencyKey: request.gatewayKey, ...options() },
        );
        return evidence(seeRefund(refund), (seen) => refundEvidence(seen, authorizationReference, request));
      },
      async (reason, options) => {
        const found = await findRefund(this.stripe, request, options);
        return found.outcome === "absent" ? { outcome: "declined", reason } : found;
      },
    );
  }

  async find(request: FindRequest): Promise<FindAnswer> {
    const options = callOptions(request);
    // Nothing can be compared with it, and "absent" would have it sent again: whatever Stripe has, a person has to see.
    if (request.kind !== "void" && toStripeAmount(request.amount) === "currency_unit_unknown") {
      return {
        outcome: "mismatch",
        evidence: `currency_unit_unknown: it is not certain what ${formatMoney(request.amount)} means at Stripe`,
      };
    }
    try {
      return await findByObjects(this.stripe, request, options);
    } catch (error) {
      return { outcome: "unknown", reason: meaningOf(error).reason };
    }
  }

  async picture(request: PictureRequest): Promise<PictureAnswer> {
    try {
      return await drawPicture(this.stripe, request, callOptions(request));
    } catch (error) {
      return { outcome: "unknown", reason: meaningOf(error).reason };
    }
  }

  async lookupAuthorization(request: LookupRequest): Promise<LookupAnswer> {
    const { reference } = request;
    return lookedUp(reference, () =>
      this.stripe.paymentIntents.retrieve(reference, { expand: ["latest_charge"] }, callOptions(request)()),
    );
  }

  /** Nothing is sent of an amount that Stripe has no number for, in no copy of it: so this is for good. */
  private async sendAmount(
    request: Sent,
    call: (amount: number, options: CallOptions) => Promise<FindAnswer>,
    look?: (reason: string, options: CallOptions) => Promise<FindAnswer>,
  ): Promise<GatewayAnswer> {
    const amount = toStripeAmount(request.amount);
    if (typeof amount === "string") return { outcome: "declined", reason: amount };
    return this.send(request, (options) => call(amount, options), look);
  }

  /** One request that moves money and, where its refusal leaves open why, one question about the state of things. */
  private async send(
    request: Sent,
    call: (options: CallOptions) => Promise<FindAnswer>,
    look?: (reason: string, options: CallOptions) => Promise<FindAnswer>,
  ): Promise<GatewayAnswer> {
    const options = callOptions(request);
    try {
      return answer(await call(options));
    } catch (error) {
      const { outcome, reason } = meaningOf(error, request.kind);
      if (outcome !== "look") return { outcome, reason };
      const found = await look?.(reason, options).catch(() => undefined);
      return found === undefined || found.outcome === "absent"
        ? { outcome: "unknown", reason }
        : answer(found);
    }
  }
}

function labels(
  kind: keyof typeof operationIdIn,
  { paymentId, operationId }: { readonly paymentId: string; readonly operationId: string },
): Record<string, string> {
  return { [PAYMENT_ID]: paymentId, [operationIdIn[kind]]: operationId };
}

/** What was just done leaves no room for "not there": whatever is not an answer for good is unknown. */
function answer(found: FindAnswer): GatewayAnswer {
  switch (found.outcome) {
    case "absent":
      return { outcome: "unknown", reason: "accepted, and not done" };
    case "pending":
      return { outcome: "unknown", reason: "processing" };
    default:
      return found;
  }
}
