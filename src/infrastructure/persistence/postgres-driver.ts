import { createRequire } from "node:module";
import type * as Pg from "pg";

export type { Client, ClientBase, Pool, PoolConfig, QueryConfig } from "pg";

/** Loaded on first use: who keeps payments elsewhere never loads PostgreSQL's client. */
export function loadPostgres(): Pick<typeof Pg, "Client" | "Pool" | "types"> {
  return createRequire(__filename)("pg") as typeof Pg;
}
