import { RequestError } from "../../problems/request-error";

const SHAPE = /^e(0|[1-9]\d{0,15})$/;

/** Where a reader is. Opaque: what stands in it is this server's affair. */
export function writeEventCursor(position: number): string {
  return Buffer.from(`e${position}`).toString("base64url");
}

export function readEventCursor(cursor: string, parameter: string): number {
  const [, digits] = SHAPE.exec(Buffer.from(cursor, "base64url").toString("latin1")) ?? [];
  const position = Number(digits);
  // Decoding skips what is not base64url: only what encodes back to itself was made here.
  if (!Number.isSafeInteger(position) || writeEventCursor(position) !== cursor) throw notACursor(parameter);
  return position;
}

export function notACursor(parameter: string): RequestError {
  const detail = "not a cursor of this feed: begin again without one, or with latest";
  return new RequestError("invalid_event_cursor", "The cursor is not valid.", {
    errors: [{ parameter, detail }],
  });
}
