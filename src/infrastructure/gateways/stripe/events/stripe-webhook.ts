import {
  GatewayEventError,
  type SignedGatewayEvents,
} from "../../../../application/ports/gateway-events/gateway-event-source";
import type { GatewayHint } from "../../../../application/ports/gateway-events/gateway-hint";
import { seeEvent } from "./stripe-event";
import { readSignature, verifySignature } from "./stripe-signature";

/**
 * Events as Stripe posts them to a webhook endpoint of the account. Excludes whoever does not have one of the endpoint's
 * signing secrets, and copies that are older than five minutes.
 * Survives a rotation: each of several secrets opens.
 * Not for what an event says: only for which payment it is about.
 */
export class StripeWebhook implements SignedGatewayEvents {
  constructor(private readonly secrets: readonly string[]) {}

  expect(header: string | undefined, now: Date): (body: Uint8Array) => GatewayHint | null {
    const signature = readSignature(header, now);
    return (body) => {
      verifySignature(signature, body, this.secrets);
      const seen = seeEvent(parsed(body));
      if (seen === null) {
        throw new GatewayEventError("gateway_event_invalid", "The body is not an event of Stripe's.");
      }
      return seen === "foreign" ? null : seen;
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
