import type { Selectable } from "kysely";

export interface SeenEventTable {
  id: string;
  seen_at: bigint;
}

export interface HintTable {
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
  /** By the gateway's clock. */
  caught_up_to: bigint | null;
  begun_at: bigint;
}

export interface HintTables {
  gateway_events_seen: SeenEventTable;
  gateway_hints: HintTable;
  gateway_catch_up: CatchUpTable;
}

export type HintRow = Selectable<HintTable>;
