import type { AgreedPermits } from "../slots/agreed-permits";
import { lockKey, storableId } from "./postgres-lock-schema";
import type { PostgresSession } from "./postgres-session";

/** SQLSTATE: no such table. */
const UNDEFINED_TABLE = "42P01";

/**
 * A table beside the notes about holders, made when the first semaphore is wanted: whoever has none needs no right to make
 * it. Not logged, as those notes: a crash of the server ends every lock, and with them all that was agreed upon.
 * A change is asked of the session that has the slots: the server answers it before it frees them, or not at all.
 */
export class PostgresPermits implements AgreedPermits {
  private readonly create: string;
  private readonly select: string;
  private readonly insert: string;
  private readonly update: string;

  constructor(
    private readonly session: () => Promise<PostgresSession>,
    private readonly schema: string,
  ) {
    const table = `${schema}.permits`;
    // One transaction, because it is one request.
    this.create = `
      SELECT pg_advisory_xact_lock(${lockKey(schema, "the schema itself")});
      CREATE UNLOGGED TABLE IF NOT EXISTS ${table} (
        key bigint PRIMARY KEY, resource_id text NOT NULL, permits integer NOT NULL
      )`;
    this.select = `SELECT permits FROM ${table} WHERE key = $1`;
    this.insert = `
      INSERT INTO ${table} (key, resource_id, permits) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING RETURNING permits`;
    this.update = `UPDATE ${table} SET permits = $3 WHERE key = $1 AND permits = $2 RETURNING permits`;
  }

  async read(resourceId: string): Promise<number | null> {
    const session = await this.session();
    const [row] = await this.onTable(session, () =>
      session.ask<{ permits: number }>(this.select, [this.keyOf(resourceId)]),
    );
    return row?.permits ?? null;
  }

  async replace(
    resourceId: string,
    from: number | null,
    to: number,
    isStillAlone: () => boolean,
  ): Promise<boolean> {
    const session = await this.session();
    // In one run to completion with the question: whoever is alone now is so by this session.
    if (!isStillAlone()) return false;
    const key = this.keyOf(resourceId);
    const changed =
      from === null
        ? await session.ask(this.insert, [key, storableId(resourceId), to])
        : await session.ask(this.update, [key, from, to]);
    return changed.length > 0;
  }

  private async onTable<T>(session: PostgresSession, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if ((error as { readonly code?: unknown }).code !== UNDEFINED_TABLE) throw error;
      await session.ask(this.create);
      return ask();
    }
  }

  private keyOf(resourceId: string): bigint {
    return lockKey(this.schema, resourceId);
  }
}
