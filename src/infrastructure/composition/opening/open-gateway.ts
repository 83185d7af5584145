import type { AccountSecrets, AskKeyOwner } from "../../../application/ports/accounts/account-secrets";
import type { AuthorizationLookup } from "../../../application/ports/authorization-lookup";
import type { CustomerPages } from "../../../application/ports/customer/customer-pages";
import type { Clock } from "../../../application/ports/clock";
import type {
  GatewayEventList,
  SignedGatewayEvents,
} from "../../../application/ports/gateway-events/gateway-event-source";
import type { PaymentGateway } from "../../../application/ports/payment-gateway";
import { StoreUnavailableError } from "../../../application/ports/payment-repository";
import type { PaymentId } from "../../../domain/identifiers";
import { isLoopback } from "../../../interfaces/http/server/listening-rule";
import {
  ConfigurationError,
  type Configuration,
  type EffectiveSettings,
} from "../../configuration/configuration";
import { GatewayModuleError } from "../../gateways/module/gateway-module-error";
import type { GatewayLedger, GatewayMove } from "../../gateways/simulated/ledgers/gateway-ledger";
import { SimulatedGateway } from "../../gateways/simulated/simulated-gateway";
import type { Closers } from "./closers";
import { toldIfItExits } from "./exit-while-opening";

export interface OpenGateway {
  readonly gateway: PaymentGateway & AuthorizationLookup;
  /** Has accounts of merchants beside the common one. */
  readonly hasAccounts?: true;
  /** How often money moved; only the simulated gateway can tell. */
  readonly moves?: (paymentId: PaymentId) => Promise<readonly GatewayMove[]>;
  /** Where customers act; only there where nobody comes in from outside, and with the simulated gateway. */
  readonly customerPages?: CustomerPages | undefined;
  /** Rejects when it cannot work; absent where that says nothing about this server. */
  readonly probe?: (() => Promise<void>) | undefined;
  /** What it says by itself; absent where it says nothing. */
  readonly events?: OpenGatewayEvents;
}

export interface OpenGatewayEvents {
  readonly list: GatewayEventList;
  /** Null where nothing is configured that would tell its events from anybody's. */
  readonly signed: SignedGatewayEvents | null;
  /** Of accounts that have secrets of their own. */
  readonly signedByAccount: SignedGatewayEvents;
}

export interface GatewayParts {
  readonly clock: Clock;
  readonly openLedger: () => Promise<GatewayLedger>;
  readonly accounts: AccountSecrets;
  readonly closers: Closers;
}

export async function openGateway(
  configuration: Configuration,
  { clock, openLedger, accounts, closers }: GatewayParts,
): Promise<OpenGateway> {
  const { settings } = configuration;
  const { value: setting } = settings.gateway;
  switch (setting.kind) {
    case "simulated":
      return simulated(await openLedger(), clock, isLoopback(settings.host.value));
    case "stripe": {
      const apiKey = stripeApiKeyOf(settings);
      const url = settings.stripeUrl.value;
      // Loaded here and not above: a server with another gateway does not pay for this one.
      const { StripeGateway } = await import("../../gateways/stripe/stripe-gateway.js");
      const keyOf = (account: string) => accounts.keyOf(account);
      const gateway = StripeGateway.open({ apiKey, keyOf, ...(url !== null && { url }) });
      closers.add(() => gateway.close());
      return {
        gateway,
        hasAccounts: true,
        events: { list: gateway.eventList, ...(await signedEvents(settings, accounts)) },
      };
    }
    case "module": {
      const gateway = await gatewayOfModule(setting.file, configuration);
      closers.add(() => gateway.close());
      return { gateway };
    }
  }
}

function simulated(ledger: GatewayLedger, clock: Clock, hasCustomerPages: boolean): OpenGateway {
  const gateway = new SimulatedGateway({ ledger, clock, hasCustomerPages });
  return {
    gateway,
    customerPages: hasCustomerPages ? gateway.customerPages : undefined,
    moves: (paymentId) =>
      gateway.moves(paymentId).catch((error: unknown) => {
        throw new StoreUnavailableError("the simulated gateway's memory does not answer", { cause: error });
      }),
    probe: ledger.ping && (async () => ledger.ping?.()),
  };
}

async function signedEvents(
  { stripeWebhookSecrets }: EffectiveSettings,
  accounts: AccountSecrets,
): Promise<Pick<OpenGatewayEvents, "signed" | "signedByAccount">> {
  const secrets = stripeWebhookSecrets.value;
  const { StripeWebhook } = await import("../../gateways/stripe/events/stripe-webhook.js");
  return {
    signed: secrets === null ? null : new StripeWebhook(secrets),
    signedByAccount: new StripeWebhook([], (account) => accounts.webhookSecretsOf(account)),
  };
}

export interface KeysOfAccounts {
  readonly askKeyOwner: AskKeyOwner;
  /** Of the server's own account; null: it is not set here. */
  readonly stripeApiKey: string | null;
}

/** Stripe's, whichever gateway is configured here: the server may have another one. */
export function keysOfAccounts({ stripeUrl, stripeApiKey }: EffectiveSettings): KeysOfAccounts {
  return {
    askKeyOwner: async (key) => {
      const { stripeKeyOwner } = await import("../../gateways/stripe/accounts/stripe-key-owner.js");
      return stripeKeyOwner(stripeUrl.value)(key);
    },
    stripeApiKey: stripeApiKey.value,
  };
}

async function gatewayOfModule(file: string, { settings, gatewayOptions }: Configuration) {
  const options = Object.fromEntries(
    Object.entries(gatewayOptions).map(([name, { value }]) => [name, value]),
  );
  const { openGatewayModule } = await import("../../gateways/module/open-gateway-module.js");
  const refusal = (why: string) =>
    unusableGateway(settings, `is module:${file}, which is no gateway: ${why}`);
  try {
    return await toldIfItExits(
      (status) => refusal(`it ended the program while it was opened, with status ${status}`),
      () => openGatewayModule(file, options),
    );
  } catch (error) {
    throw error instanceof GatewayModuleError ? refusal(error.message) : error;
  }
}

function stripeApiKeyOf(settings: EffectiveSettings): string {
  const { value } = settings.stripeApiKey;
  if (value !== null) return value;
  // Whoever gives options has an environment that is not read.
  const name = settings.gateway.kind === "option" ? "stripeApiKey" : "STRIPE_API_KEY";
  throw unusableGateway(settings, `is stripe:, which needs Stripe's secret key: set ${name}`);
}

/** The value is right, what it needs is missing: never a usage error. */
function unusableGateway({ gateway: { source } }: EffectiveSettings, message: string): ConfigurationError {
  return new ConfigurationError([{ source, kind: "environment", message }]);
}
