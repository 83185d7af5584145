/** Where an operator's reading of the gateway's lists stands: in whose list, and behind which event of it. */
export interface CatchUpPlace {
  /** Null: the common account's. */
  readonly account: string | null;
  /** Null: at its beginning. */
  readonly after: string | null;
}

/** What `cursorOf` makes: an event of the common account's list, or an account, a stroke, and an event of its list. */
export const CATCH_UP_CURSOR = /^[\w-]{1,255}$|^[\w-]{1,255}\/[\w-]{0,255}$/;

export function placeOf(cursor: string | null): CatchUpPlace {
  if (cursor === null) return { account: null, after: null };
  const [place, event] = cursor.split("/");
  if (event === undefined) return { account: null, after: cursor };
  return { account: place ?? null, after: event === "" ? null : event };
}

export function cursorOf({ account, after }: CatchUpPlace): string {
  return account === null ? (after ?? "") : `${account}/${after ?? ""}`;
}
