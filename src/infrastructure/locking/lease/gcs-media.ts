import type { File } from "@google-cloud/storage";
import { statusOf, storeErrorOf } from "./gcs-answers";

/** Content and generation of an object, out of one answer. `text` is null where the content cannot be a record. */
export type Media = {
  readonly generation: string | undefined;
  /** The service's clock, from the `Date` header. */
  readonly storeNowMs: number | undefined;
} & ({ readonly text: string } | { readonly text: null; readonly flaw: string });

/** A record has some hundred bytes; somebody's file under the same name may have gigabytes, and is not fetched. */
export const MAX_RECORD_BYTES = 65_536;

/** What one media request came to. */
export interface MediaOutcome {
  readonly error: unknown;
  readonly body: unknown;
  readonly answer: Answer | undefined;
}

interface Answer {
  readonly statusCode: number;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Downloads an object with its generation, in one request: metadata and then content could be of two generations.
 * Not as a stream: a download that breaks in the middle leaves the client's read stream without an end and without an
 * error, while its buffered request is bounded by the timeout from the first byte to the last.
 */
export function requestMedia(file: File): Promise<MediaOutcome> {
  return new Promise((resolve) => {
    file.request(
      {
        uri: "",
        qs: { alt: "media" },
        headers: { Range: `bytes=0-${MAX_RECORD_BYTES - 1}`, "Cache-Control": "no-store" },
      },
      (error: unknown, body: unknown, answer?: unknown) =>
        resolve({ error, body, answer: answer as Answer | undefined }),
    );
  });
}

export function mediaOf({ error, body, answer }: MediaOutcome, doing: string): Media | "absent" {
  const status = answer?.statusCode ?? statusOf(error);
  if (status === 404) return "absent";
  const facts = {
    generation: answer?.headers["x-goog-generation"],
    storeNowMs: timeOf(answer?.headers["date"]),
  };
  // A range of an empty object cannot be satisfied.
  if (status === 416) return { ...facts, text: null, flaw: "it is empty" };
  if (status !== 200 && status !== 206) throw storeErrorOf(error, doing);

  const size = Number(answer?.headers["x-goog-stored-content-length"] ?? 0);
  if (size > MAX_RECORD_BYTES) return { ...facts, text: null, flaw: `it has ${size} bytes` };
  if (error !== null) {
    if (!isAboutContent(error)) throw storeErrorOf(error, doing);
    return { ...facts, text: null, flaw: "it is not JSON" };
  }
  return { ...facts, text: typeof body === "string" ? body : JSON.stringify(body) };
}

/** With a success for an answer, the client can still trip over what it carried: bad JSON, an `error` field, bad gzip. */
function isAboutContent(error: unknown): boolean {
  const { type, code } = error as { readonly type?: string; readonly code?: string };
  return type === undefined || type === "invalid-json" || String(code).startsWith("Z_");
}

function timeOf(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? undefined : time;
}
