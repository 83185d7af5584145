import type { AuthorizationLookup } from "../../../application/ports/authorization-lookup";
import type { Clock } from "../../../application/ports/clock";
import type {
  GatewayEventList,
  SignedGatewayEvents,
} from "../../../application/ports/gateway-events/gateway-event-source";
import type { PaymentGateway } from "../../../application/ports/payment-gateway";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";
import type { PaymentId } from "../../../domain/identifiers";
import { ConfigurationError, type EffectiveSettings } from "../../configuration/configuration";
import type { GatewayLedger, GatewayMove } from "../../gateways/simulated/ledgers/gateway-ledger";
import { SimulatedGateway } from "../../gateways/simulated/simulated-gateway";
import type { Closers } from "./closers";

export interface OpenGateway {
  readonly gateway: PaymentGateway & AuthorizationLookup;
  /** How often money moved; only the simulated gateway can tell. */
  readonly moves?: (paymentId: PaymentId) => Promise<readonly GatewayMove[]>;
  /** Rejects when it cannot work; absent where that says nothing about this server. */
  readonly probe?: (() => Promise<void>) | undefined;
  /** What it says by itself; absent where it says nothing. */
  readonly events?: OpenGatewayEvents;
}

export interface OpenGatewayEvents {
  readonly list: GatewayEventList;
  /** Null where nothing is configured that would tell its events from anybody's. */
  readonly signed: SignedGatewayEvents | null;
}

export async function openGateway(
  settings: EffectiveSettings,
  clock: Clock,
  openLedger: () => Promise<GatewayLedger>,
  closers: Closers,
): Promise<OpenGateway> {
  switch (settings.gateway.value) {
    case "simulated":
      return simulated(await openLedger(), clock);
    case "stripe": {
      const apiKey = stripeApiKeyOf(settings);
      const url = settings.stripeUrl.value;
      // Loaded here and not above: a server with another gateway does not pay for this one.
      const { StripeGateway } = await import("../../gateways/stripe/stripe-gateway.js");
      const gateway = StripeGateway.open({ apiKey, ...(url !== null && { url }) });
      closers.add(() => gateway.close());
      return { gateway, events: { list: gateway.eventList, signed: await signedEvents(settings) } };
    }
  }
}

function simulated(ledger: GatewayLedger, clock: Clock): OpenGateway {
  const gateway = new SimulatedGateway({ ledger, clock });
  return {
    gateway,
    moves: (paymentId) =>
      gateway.moves(paymentId).catch((error: unknown) => {
        throw new StoreUnavailableError("the simulated gateway's memory does not answer", { cause: error });
      }),
    probe: ledger.ping && (async () => ledger.ping?.()),
  };
}

async function signedEvents({
  stripeWebhookSecrets,
}: EffectiveSettings): Promise<SignedGatewayEvents | null> {
  const secrets = stripeWebhookSecrets.value;
  if (secrets === null) return null;
  const { StripeWebhook } = await import("../../gateways/stripe/events/stripe-webhook.js");
  return new StripeWebhook(secrets);
}

function stripeApiKeyOf({ gateway, stripeApiKey }: EffectiveSettings): string {
  if (stripeApiKey.value !== null) return stripeApiKey.value;
  const message = "is stripe:, which needs Stripe's secret key: set STRIPE_API_KEY";
  // The value is right, what it needs is missing: never a usage error.
  throw new ConfigurationError([{ source: gateway.source, kind: "environment", message }]);
}
