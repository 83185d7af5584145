import type { AccountSecrets } from "../../../../application/ports/accounts/account-secrets";
import {
  GatewayEventError,
  type SignedGatewayEvents,
} from "../../../../application/ports/gateway-events/gateway-event-source";
import type { GatewayHint } from "../../../../application/ports/gateway-events/gateway-hint";
import { accountOfEvent, seeEvent } from "./stripe-event";
import { readSignature, verifySignature } from "./stripe-signature";

/**
 * Events as Stripe posts them to a webhook endpoint: of the server's account and those that are connected to it, or of an
 * account that has a key of its own. Excludes whoever does not have one of the endpoint's signing secrets, and copies that
 * are older than five minutes.
 * Survives a rotation: each of several secrets opens.
 * Not for what an event says: only for which payment of which account it is about.
 */
export class StripeWebhook implements SignedGatewayEvents {
  constructor(
    private readonly secrets: readonly string[],
    private readonly secretsOf: AccountSecrets["webhookSecretsOf"] = async () => [],
  ) {}

  async expect(
    header: string | undefined,
    now: Date,
    account?: string,
  ): Promise<(body: Uint8Array) => GatewayHint | null> {
    const signature = readSignature(header, now);
    const secrets = account === undefined ? this.secrets : await this.secretsOf(account);
    return (body) => {
      verifySignature(signature, body, secrets);
      const event = parsed(body);
      const seen = seeEvent(event);
      if (seen === null) {
        throw new GatewayEventError("gateway_event_invalid", "The body is not an event of Stripe's.");
      }
      if (seen === "foreign") return null;
      const of = accountOfEvent(event) ?? account;
      // Whose endpoint it is, its events are of: another account has other secrets.
      if (account !== undefined && of !== account) return null;
      return of === undefined ? seen : { ...seen, account: of };
    };
  }
}

function parsed(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new GatewayEventError("malformed_json", "The body is not valid JSON.");
  }
}
