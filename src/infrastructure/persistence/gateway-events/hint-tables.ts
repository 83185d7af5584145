import type { Selectable } from "kysely";

/** Each row is of one account; the common one is "", because a key has no null. */
export interface SeenEventTable {
  account: string;
  id: string;
  seen_at: bigint;
}

export interface HintTable {
  account: string;
  /** What the gateway calls the authorization. */
  reference: string;
  labelled: string | null;
  /** Counts its events. */
  revision: bigint;
  received_at: bigint;
  due_at: bigint;
  attempts: bigint;
  claimed_by: string | null;
  /** By the store's own clock. */
  claimed_until: bigint;
}

/** One row. */
export interface CatchUpTable {
  id: bigint;
  begun_at: bigint;
}

export interface CatchUpPositionTable {
  account: string;
  /** By the gateway's clock. */
  caught_up_to: bigint;
}

export interface HintTables {
  gateway_events_seen: SeenEventTable;
  gateway_hints: HintTable;
  gateway_catch_up: CatchUpTable;
  gateway_catch_up_positions: CatchUpPositionTable;
}

export type HintRow = Selectable<HintTable>;
