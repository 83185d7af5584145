import { createHash } from "node:crypto";
import type { EventFeed } from "../../../../application/ports/events/event-feed";
import { RequestError } from "../../problems/request-error";

/** Where a reader is, and in which feed: no other one has the same event there, unless it is a copy that far. */
export interface EventCursor {
  readonly position: number;
  /** Of the event at the position: a digest, because that event may be another merchant's. Empty before the first one. */
  readonly mark: string;
}

/** The same in every feed. */
export const BEFORE_THE_FIRST: EventCursor = { position: 0, mark: "" };

/** Said wherever a cursor is refused, with what the caller can do. Details are cut at 200 characters. */
export const NOT_OF_THIS_FEED =
  "is no cursor of this feed (perhaps of another store or sandbox, or of a time undone by a restore): go on with one from here, or " +
  "begin again without one and drop ids that you know, or with latest";

/** 48 bits. */
const MARK_BYTES = 6;
const SHAPE = /^e(?:(0)|([1-9]\d{0,15})\.([\w-]{8}))$/;

export function cursorAt({ position, id }: { position: number; id: string }): EventCursor {
  const digest = createHash("sha256").update(id).digest();
  return { position, mark: digest.toString("base64url", 0, MARK_BYTES) };
}

/** Of a position at which the feed has an event, or of 0. */
export async function cursorIn(feed: EventFeed, position: number): Promise<EventCursor> {
  if (position === 0) return BEFORE_THE_FIRST;
  const id = await feed.eventIdAt(position);
  if (id === null) throw new Error(`the feed has no event at ${position}`);
  return cursorAt({ position, id });
}

/** After a read, which is what gives positions to the newest events. */
export async function isOfFeed({ position, mark }: EventCursor, feed: EventFeed): Promise<boolean> {
  if (position === 0) return true;
  const id = await feed.eventIdAt(position);
  return id !== null && cursorAt({ position, id }).mark === mark;
}

/** Opaque: what stands in it is this server's affair. */
export function writeEventCursor({ position, mark }: EventCursor): string {
  return Buffer.from(position === 0 ? "e0" : `e${position}.${mark}`).toString("base64url");
}

export function readEventCursor(text: string, parameter: string): EventCursor {
  const [isCursor, zero, digits, mark = ""] =
    SHAPE.exec(Buffer.from(text, "base64url").toString("latin1")) ?? [];
  const cursor = { position: Number(zero ?? digits), mark };
  // Decoding skips what is not base64url: only what encodes back to itself was made here.
  if (isCursor === undefined || !Number.isSafeInteger(cursor.position) || writeEventCursor(cursor) !== text)
    throw notACursor(parameter);
  return cursor;
}

export function notACursor(parameter: string): RequestError {
  return new RequestError("invalid_event_cursor", "The cursor is not valid.", {
    errors: [{ parameter, detail: NOT_OF_THIS_FEED }],
  });
}
