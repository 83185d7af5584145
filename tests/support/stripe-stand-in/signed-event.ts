import Stripe from "stripe";

const stripe = new Stripe("sk_test_signs_only");

export const WEBHOOK_SECRET = "whsec_a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6";

interface Signing {
  readonly secret?: string;
  readonly at?: Date;
}

/** The header that Stripe sends with this body, by Stripe's own package. */
export function signatureOf(
  payload: string,
  { secret = WEBHOOK_SECRET, at = new Date() }: Signing = {},
): string {
  const timestamp = Math.floor(at.getTime() / 1_000);
  return stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
}

/** An event as a webhook brings it: the body, byte for byte, and its signature. */
export function signed(
  event: object,
  signing: Signing = {},
): { readonly body: string; readonly signature: string } {
  const body = JSON.stringify(event, null, 2);
  return { body, signature: signatureOf(body, signing) };
}
