import { createHmac, timingSafeEqual } from "node:crypto";
import { WebhookVerificationError } from "./client-errors";
import type { Event } from "./generated/schemas";

/** Headers as `node:http`, Express, or `fetch` has them. */
export type ReceivedHeaders =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ReceivedWebhook {
  /** Exactly the bytes that were received: a body that was parsed and written again has another signature. */
  readonly body: string | Uint8Array;
  readonly headers: ReceivedHeaders;
}

export interface WebhookSecrets {
  /** `whsec_…`; several while one is being rotated. */
  readonly secret: string | readonly string[];
  /** An older delivery may be one that somebody has recorded and plays again. */
  readonly toleranceSeconds?: number;
  readonly now?: Date;
}

const DEFAULT_TOLERANCE_SECONDS = 300;
const FEWEST_BYTES = 16;

/** The event of a delivery, if it was signed with the endpoint's secret a short time ago. Drop ids that you have had. */
export function verifyWebhook(received: ReceivedWebhook, secrets: WebhookSecrets): Event {
  const id = header(received.headers, "webhook-id");
  const timestamp = header(received.headers, "webhook-timestamp");
  const signatures = header(received.headers, "webhook-signature");
  if (id === null || timestamp === null || signatures === null)
    throw new WebhookVerificationError("headers_missing", "the headers of a signed webhook are missing");

  const { secret, toleranceSeconds = DEFAULT_TOLERANCE_SECONDS, now = new Date() } = secrets;
  const ageSeconds = now.getTime() / 1_000 - Number(timestamp);
  // Not a number is no time, either.
  if (!(Math.abs(ageSeconds) <= toleranceSeconds))
    throw new WebhookVerificationError(
      "timestamp_out_of_tolerance",
      `the webhook was signed more than ${toleranceSeconds} s before or after now`,
    );

  const given = signatures.split(" ").filter((one) => one.startsWith("v1,"));
  const isGenuine = [secret].flat().some((one) => {
    const expected = createHmac("sha256", keyOf(one))
      .update(`${id}.${timestamp}.`)
      .update(received.body)
      .digest();
    return given.some((signature) => isSame(Buffer.from(signature.slice(3), "base64"), expected));
  });
  if (!isGenuine)
    throw new WebhookVerificationError("signature_mismatch", "no signature was made with this secret");
  return eventOf(received.body);
}

/** Anybody can sign with a secret that is empty, as one is that was never set. */
function keyOf(secret: string): Buffer {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length < FEWEST_BYTES)
    throw new TypeError("the secret of a webhook endpoint is whsec_ and 32 characters or more");
  return key;
}

function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function header(headers: ReceivedHeaders, name: string): string | null {
  if (typeof headers["get"] === "function") return headers["get"](name);
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === "string" ? value : (value?.[0] ?? null);
}

function eventOf(body: string | Uint8Array): Event {
  try {
    return JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString("utf8")) as Event;
  } catch {
    throw new WebhookVerificationError("malformed_body", "the body is not JSON");
  }
}
