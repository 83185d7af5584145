import type { GcsAnswer } from "./gcs-requests";
import {
  PermanentLeaseStoreError,
  TransientLeaseStoreError,
} from "../locking/lease/protocol/lease-record-store";

/** Refused in a way that repeating does not change. Everything else may be different the next time. */
const PERMANENT = new Set([400, 401, 403, 405, 411, 413]);

/** The HTTP status that an error of the client stands for; NaN where no answer came. `code` is a number or a string. */
export function statusOf(error: unknown): number {
  return Number(fieldOf(error, "code"));
}

/**
 * What a failed request means to the protocol. Without an answer nobody knows whether a write was applied, or will be:
 * that is a transient error like any other, after which the protocol reads back.
 */
export function storeErrorOf(error: unknown, doing: string): Error {
  if (error instanceof PermanentLeaseStoreError) return error;
  const status = statusOf(error);
  const said = wordsOf(error);
  if (status === 429 || (status === 403 && /rateLimitExceeded/i.test(reasonOf(error))))
    return new TransientLeaseStoreError(`${doing}: ${said}`, { cause: error, throttled: true });
  if (status === 401 || /could not load the default credentials/i.test(said))
    return new PermanentLeaseStoreError(
      `${doing}: not authenticated (${said}); set GOOGLE_APPLICATION_CREDENTIALS or attach a service account`,
      { cause: error },
    );
  if (status === 403)
    return new PermanentLeaseStoreError(
      `${doing}: not permitted (${said}); the account needs roles/storage.objectUser on the bucket`,
      { cause: error },
    );
  if (PERMANENT.has(status))
    return new PermanentLeaseStoreError(`${doing}: refused with ${status} (${said})`, { cause: error });
  return new TransientLeaseStoreError(`${doing}: ${Number.isNaN(status) ? "" : `${status}, `}${said}`, {
    cause: error,
  });
}

/** An answer other than a success, in the shape of the client's own errors. */
export function refusalOf(answer: GcsAnswer): object {
  const text = answer.bytes.toString("utf8");
  let said: unknown;
  try {
    said = fieldOf(JSON.parse(text), "error");
  } catch {
    // A service in between answers in its own words, and maybe with a page.
  }
  const message = fieldOf(said, "message") ?? (text.startsWith("<") ? "a page in place of an answer" : text);
  return { code: answer.status, message, errors: fieldOf(said, "errors") };
}

/** What is used of the JSON that answers carry. */
export interface GcsResource {
  readonly generation?: string;
  readonly timeCreated?: string;
  readonly items?: readonly { readonly name: string }[];
  readonly nextPageToken?: string;
}

export function resourceOf(answer: GcsAnswer, doing: string): GcsResource {
  if (answer.status >= 300) throw storeErrorOf(refusalOf(answer), doing);
  try {
    const value: unknown = JSON.parse(answer.bytes.toString("utf8"));
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Said below.
  }
  throw new TransientLeaseStoreError(`${doing}: the answer is not of the service`);
}

export function missingBucket(bucket: string): Error {
  return new PermanentLeaseStoreError(`there is no bucket ${bucket}: create it, or correct the name`);
}

/** The service's own sentence, where it said one: the client wraps it in a list of everything it knows. */
function wordsOf(error: unknown): string {
  const [first] = detailsOf(error);
  const said = fieldOf(first, "message") ?? fieldOf(error, "message");
  return typeof said === "string" && said !== "" ? (said.split("\n")[0] ?? said) : "no reason given";
}

function reasonOf(error: unknown): string {
  const reason = fieldOf(detailsOf(error)[0], "reason");
  return typeof reason === "string" ? reason : "";
}

function detailsOf(error: unknown): readonly unknown[] {
  const errors = fieldOf(error, "errors");
  return Array.isArray(errors) ? errors : [];
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === "object" && value !== null
    ? (value as Readonly<Record<string, unknown>>)[field]
    : undefined;
}
