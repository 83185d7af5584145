import { createRequire } from "node:module";
import type * as Pg from "pg";

export type {
  Client,
  ClientBase,
  Connection,
  FieldDef,
  Pool,
  PoolConfig,
  QueryConfig,
  Submittable,
} from "pg";

type Driver = Pick<typeof Pg, "Client" | "Pool" | "types">;

let driver: Driver | undefined;

/** Loaded on first use: who keeps payments elsewhere never loads PostgreSQL's client. */
export function loadPostgres(): Driver {
  return (driver ??= createRequire(__filename)("pg") as Driver);
}
