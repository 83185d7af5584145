import { createHmac, timingSafeEqual } from "node:crypto";
import { types } from "node:util";
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
  const body: unknown = received.body;
  // Whoever wrote it again would write other bytes.
  if (typeof body !== "string" && !types.isUint8Array(body))
    throw new WebhookVerificationError(
      "body_not_raw",
      "give the raw bytes that were received: this body was parsed already, or there is none",
    );
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
  const secretsGiven: readonly unknown[] = [secret].flat();
  const keys = secretsGiven.map(keyOf).filter((key) => key !== null);
  if (keys.length === 0)
    throw new TypeError("the secret of a webhook endpoint is whsec_ and 32 characters or more");
  const isGenuine = keys.some((key) => {
    const expected = createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest();
    return given.some((signature) => isSame(Buffer.from(signature.slice(3), "base64"), expected));
  });
  if (isGenuine) return eventOf(body);
  const untried = secretsGiven.length - keys.length;
  throw new WebhookVerificationError(
    "signature_mismatch",
    "no signature was made with this secret" +
      (untried === 0 ? "" : `; ${untried} of the secrets is not set or too short, and was not tried`),
  );
}

/** Null where it is none: anybody can sign with a secret that is empty, as one is that was never set. */
function keyOf(secret: unknown): Buffer | null {
  if (typeof secret !== "string") return null;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  return key.length < FEWEST_BYTES ? null : key;
}

function isSame(given: Buffer, expected: Buffer): boolean {
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function header(headers: ReceivedHeaders | null | undefined, name: string): string | null {
  if (typeof headers !== "object" || headers === null) return null;
  if (typeof headers["get"] === "function") return headers["get"](name);
  const value = (headers as Readonly<Record<string, string | readonly string[] | undefined>>)[name];
  return typeof value === "string" ? value : (value?.[0] ?? null);
}

function eventOf(body: string | Uint8Array): Event {
  let read: unknown;
  try {
    read = JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString("utf8"));
  } catch {
    throw new WebhookVerificationError("malformed_body", "the body is not JSON");
  }
  const { id, type, data } = (read ?? {}) as Partial<Record<keyof Event, unknown>>;
  if (typeof id !== "string" || typeof type !== "string" || typeof data !== "object" || data === null)
    throw new WebhookVerificationError("malformed_body", "the body is no event");
  return read as Event;
}
