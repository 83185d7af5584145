import { createHmac } from "node:crypto";

/** Before the base64 of a secret, as Standard Webhooks writes it. */
const SECRET_PREFIX = "whsec_";
export const SECRET_BYTES = 32;

export interface SignedMessage {
  /** The same at each attempt: receivers know a duplicate by it. */
  readonly id: string;
  /** Of this attempt, by the wall clock: receivers refuse what is minutes off. */
  readonly at: Date;
  /** As it is sent, byte for byte. */
  readonly body: string;
}

/** The three headers of Standard Webhooks 1.0.0. While a secret is being rotated, each of its two has a signature. */
export function signedHeaders(
  { id, at, body }: SignedMessage,
  secrets: readonly string[],
): Readonly<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature", string>> {
  const timestamp = String(Math.floor(at.getTime() / 1_000));
  const signatures = secrets.map(
    (secret) =>
      `v1,${createHmac("sha256", keyOf(secret)).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
  );
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
}

export function webhookSecret(random: Uint8Array): string {
  return SECRET_PREFIX + Buffer.from(random).toString("base64");
}

function keyOf(secret: string): Buffer {
  return Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
}
