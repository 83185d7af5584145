import { createHmac, timingSafeEqual } from "node:crypto";
import { GatewayEventError } from "../../../../application/ports/gateway-events/gateway-event-source";

/** As Stripe's own libraries have it. */
export const SIGNATURE_TOLERANCE_MS = 300_000;
/** A header has one for each secret that is being rotated; more than a few of them is nobody's rotation. */
const MAX_SIGNATURES = 16;

/** `Stripe-Signature`, taken apart. */
export interface StripeSignature {
  /** As it was written: the digits are signed, not the number. */
  readonly timestamp: string;
  readonly signatures: readonly Buffer[];
}

/** Judges the header by itself, before the body is read. Throws `GatewayEventError`. */
export function readSignature(header: string | undefined, now: Date): StripeSignature {
  if (header === undefined || header.trim() === "") {
    throw new GatewayEventError("gateway_signature_missing", "There is no Stripe-Signature header.");
  }
  const parts = header.split(",").map((part) => part.trim());
  const timestamps = parts.flatMap((part) => /^t=(\d{1,12})$/.exec(part)?.[1] ?? []);
  const signatures = parts.flatMap((part) => /^v1=([0-9a-f]{64})$/.exec(part)?.[1] ?? []);
  const [timestamp] = timestamps;
  if (timestamp === undefined || timestamps.length > 1) throw invalid("has to have one t=<seconds>");
  if (signatures.length === 0) throw invalid("has no v1 signature");
  if (signatures.length > MAX_SIGNATURES) throw invalid("has too many signatures");
  if (Math.abs(now.getTime() - Number(timestamp) * 1_000) > SIGNATURE_TOLERANCE_MS) {
    throw new GatewayEventError(
      "gateway_signature_expired",
      "The signature's timestamp is more than five minutes off this server's clock.",
    );
  }
  return { timestamp, signatures: signatures.map((signature) => Buffer.from(signature, "hex")) };
}

/** The bytes as they came: whatever else they might be parsed to was not signed. Throws `GatewayEventError`. */
export function verifySignature(
  { timestamp, signatures }: StripeSignature,
  body: Uint8Array,
  secrets: readonly string[],
): void {
  // All are compared, whichever fits: how long it takes tells nothing.
  const fitting = secrets.filter((secret) => {
    const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
    return signatures.filter((signature) => timingSafeEqual(signature, expected)).length > 0;
  });
  if (fitting.length === 0) throw invalid("fits none of the configured secrets and this body");
}

function invalid(what: string): GatewayEventError {
  return new GatewayEventError("gateway_signature_invalid", `The Stripe-Signature header ${what}.`);
}
