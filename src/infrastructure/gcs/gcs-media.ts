import { refusalOf, storeErrorOf } from "./gcs-answers";
import type { GcsAnswer } from "./gcs-requests";
import { TransientLeaseStoreError } from "../locking/lease/protocol/lease-record-store";

/** Content and generation of an object, out of one answer. `text` is null where the content cannot be a record. */
export type Media = {
  readonly generation: string | undefined;
  /** The service's clock, from the `Date` header. */
  readonly storeNowMs: number | undefined;
} & ({ readonly text: string } | { readonly text: null; readonly flaw: string });

/** A record has some hundred bytes; somebody's file under the same name may have gigabytes, and is not fetched. */
const MAX_RECORD_BYTES = 65_536;

/** In one request: metadata and then content could be of two generations. */
export const MEDIA_REQUEST = {
  method: "GET",
  query: { alt: "media" },
  headers: { Range: `bytes=0-${MAX_RECORD_BYTES - 1}`, "Cache-Control": "no-store" },
} as const;

/** What came of a `MEDIA_REQUEST`. */
export function mediaOf(answer: GcsAnswer, doing: string): Media | "absent" {
  const { status, headers, bytes } = answer;
  if (status === 404) return "absent";
  const facts = { generation: headers["x-goog-generation"], storeNowMs: timeOf(headers["date"]) };
  // A range of an empty object cannot be satisfied.
  if (status === 416) return { ...facts, text: null, flaw: "it is empty" };
  if (status !== 200 && status !== 206) throw storeErrorOf(refusalOf(answer), doing);
  const size = Number(headers["x-goog-stored-content-length"] ?? 0);
  if (size > MAX_RECORD_BYTES) return { ...facts, text: null, flaw: `it has ${size} bytes` };
  refuseIfCutShort(answer, doing);
  return { ...facts, text: bytes.toString("utf8") };
}

/** By the length that the service has stored: whoever cuts an answer may correct the length that is told of it. */
export function refuseIfCutShort({ headers, bytes }: GcsAnswer, doing: string): void {
  const stored = headers["x-goog-stored-content-length"];
  const isAsStored = (headers["x-goog-stored-content-encoding"] ?? "identity") === "identity";
  if (stored !== undefined && isAsStored && Number(stored) !== bytes.length)
    throw new TransientLeaseStoreError(`${doing}: only part of the answer came`);
}

function timeOf(date: string | undefined): number | undefined {
  const time = Date.parse(date ?? "");
  return Number.isNaN(time) ? undefined : time;
}
