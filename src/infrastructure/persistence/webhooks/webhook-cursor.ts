import { InvalidCursorError, type Page } from "../../../application/ports/payment-repository";

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Ids ascend with time, so that the last one of a page says where the next begins. */
export function writeIdCursor(id: string): string {
  return Buffer.from(id).toString("base64url");
}

export function readIdCursor(cursor: string): string {
  const id = Buffer.from(cursor, "base64url").toString("latin1");
  if (!ID.test(id) || writeIdCursor(id) !== cursor) {
    throw new InvalidCursorError("this cursor was not made by this list");
  }
  return id;
}

/** `found` holds one more than the page if there is a next one. */
export function idPage<T extends { readonly id: string }>(found: readonly T[], limit: number): Page<T> {
  const data = found.slice(0, limit);
  const last = data.at(-1);
  return { data, nextCursor: found.length > limit && last !== undefined ? writeIdCursor(last.id) : null };
}
