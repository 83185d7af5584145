import { Kysely, type CompiledQuery, type DialectAdapter, type QueryCompiler, DummyDriver } from "kysely";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import type { SqlEngine } from "../migrations/migration";
import type { Tables } from "./tables";

/**
 * The seam between the queries, which both SQL stores share, and how each runs them. Rejects with
 * `ConstraintViolationError` where the schema refuses and with `StoreUnavailableError` where the store fails.
 */
export interface SqlDatabase {
  readonly engine: SqlEngine;
  /** Builds and compiles queries; does not run them. */
  readonly queries: Kysely<Tables>;
  /** Where answers come from elsewhere, `list` is worth waiting for a little longer. */
  rows<Row>(query: CompiledQuery<Row>, statement?: "read" | "list"): Promise<readonly Row[]>;
  /**
   * The same for what a person did: writes the entry in the same transaction, and only if the query returns a row. Without an
   * entry it is as any other query.
   */
  acted<Row>(query: CompiledQuery<Row>, entry: AuditEntry | undefined): Promise<readonly Row[]>;
}

/** A guard of the schema has refused a write. `constraint` is its name where the engine tells it. */
export class ConstraintViolationError extends Error {
  override readonly name = "ConstraintViolationError";

  constructor(
    readonly constraint: string,
    options: ErrorOptions,
  ) {
    super(`the schema refuses this (${constraint})`, options);
  }
}

/** Kysely without a connection: running is the database's own affair, in its own few lines. */
export function queryBuilder(adapter: DialectAdapter, compiler: QueryCompiler): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => adapter,
      createDriver: () => new DummyDriver(),
      createQueryCompiler: () => compiler,
      createIntrospector: () => {
        throw new Error("queries are built here, not run");
      },
    },
  });
}
