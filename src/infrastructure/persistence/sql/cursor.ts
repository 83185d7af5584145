import { InvalidCursorError, type Page } from "../../../application/ports/payment-repository";
import type { PaymentEvent } from "../../../domain/payment/events";

/** Where a page ended: the last row's sort key. Callers get it as opaque text. */
export interface Position {
  readonly atMs: bigint;
  readonly id: string;
}

const SHAPE = /^(\d{1,16})\.([0-9a-f-]{36})$/;

export function writeCursor({ atMs, id }: Position): string {
  return Buffer.from(`${atMs}.${id}`).toString("base64url");
}

export function readCursor(cursor: string): Position {
  const [, atMs, id] = SHAPE.exec(Buffer.from(cursor, "base64url").toString("latin1")) ?? [];
  // Decoding skips what is not base64url: only what encodes back to itself was made here.
  if (atMs === undefined || id === undefined || writeCursor({ atMs: BigInt(atMs), id }) !== cursor) {
    throw new InvalidCursorError("this cursor was not made by this list");
  }
  return { atMs: BigInt(atMs), id };
}

/** Within one payment, where events follow each other by their sequence and not by their time. */
export function eventPosition({ sequence, id }: PaymentEvent): Position {
  return { atMs: BigInt(sequence), id };
}

export function isAfter(one: Position, other: Position): boolean {
  return one.atMs === other.atMs ? one.id > other.id : one.atMs > other.atMs;
}

/** `found` holds one more than the page if there is a next one. */
export function pageOf<T>(found: readonly T[], limit: number, positionOf: (item: T) => Position): Page<T> {
  const data = found.slice(0, limit);
  const last = data.at(-1);
  const more = found.length > limit && last !== undefined;
  return { data, nextCursor: more ? writeCursor(positionOf(last)) : null };
}
