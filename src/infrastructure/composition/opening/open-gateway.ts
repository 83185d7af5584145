import type { AuthorizationLookup } from "../../../application/ports/authorization-lookup";
import type { Clock } from "../../../application/ports/clock";
import type {
  GatewayEventList,
  SignedGatewayEvents,
} from "../../../application/ports/gateway-events/gateway-event-source";
import type { PaymentGateway } from "../../../application/ports/payment-gateway";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";
import type { PaymentId } from "../../../domain/identifiers";
import {
  ConfigurationError,
  type Configuration,
  type EffectiveSettings,
} from "../../configuration/configuration";
import { GatewayModuleError } from "../../gateways/module/gateway-module-error";
import type { GatewayLedger, GatewayMove } from "../../gateways/simulated/ledgers/gateway-ledger";
import { SimulatedGateway } from "../../gateways/simulated/simulated-gateway";
import type { Closers } from "./closers";

export interface OpenGateway {
  readonly gateway: PaymentGateway & AuthorizationLookup;
  /** Has accounts of merchants beside the common one. */
  readonly hasAccounts?: true;
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
  configuration: Configuration,
  clock: Clock,
  openLedger: () => Promise<GatewayLedger>,
  closers: Closers,
): Promise<OpenGateway> {
  const { settings } = configuration;
  const { value: setting } = settings.gateway;
  switch (setting.kind) {
    case "simulated":
      return simulated(await openLedger(), clock);
    case "stripe": {
      const apiKey = stripeApiKeyOf(settings);
      const url = settings.stripeUrl.value;
      // Loaded here and not above: a server with another gateway does not pay for this one.
      const { StripeGateway } = await import("../../gateways/stripe/stripe-gateway.js");
      const gateway = StripeGateway.open({ apiKey, ...(url !== null && { url }) });
      closers.add(() => gateway.close());
      const events = { list: gateway.eventList, signed: await signedEvents(settings) };
      return { gateway, hasAccounts: true, events };
    }
    case "module": {
      const gateway = await gatewayOfModule(setting.file, configuration);
      closers.add(() => gateway.close());
      return { gateway };
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

async function gatewayOfModule(file: string, { settings, gatewayOptions }: Configuration) {
  const options = Object.fromEntries(
    Object.entries(gatewayOptions).map(([name, { value }]) => [name, value]),
  );
  const { openGatewayModule } = await import("../../gateways/module/open-gateway-module.js");
  try {
    return await openGatewayModule(file, options);
  } catch (error) {
    if (!(error instanceof GatewayModuleError)) throw error;
    throw unusableGateway(settings, `is module:${file}, which is no gateway: ${error.message}`);
  }
}

function stripeApiKeyOf(settings: EffectiveSettings): string {
  const { value } = settings.stripeApiKey;
  if (value !== null) return value;
  throw unusableGateway(settings, "is stripe:, which needs Stripe's secret key: set STRIPE_API_KEY");
}

/** The value is right, what it needs is missing: never a usage error. */
function unusableGateway({ gateway: { source } }: EffectiveSettings, message: string): ConfigurationError {
  return new ConfigurationError([{ source, kind: "environment", message }]);
}
