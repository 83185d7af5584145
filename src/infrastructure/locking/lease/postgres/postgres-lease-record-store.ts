// Excludes everyone who uses the same database and schema, from any machine.
// Survives crashes of its clients, lost answers, and whatever the database survives.
// Not for the lock of a payment: a session's advisory lock costs less there and is free as soon as its holder is dead.
import { createHash } from "node:crypto";
import { CompiledQuery } from "kysely";
import { PostgresDatabase } from "../../../persistence/postgres/postgres-database";
import type { PostgresPlace } from "../../../persistence/postgres/postgres-place";
import {
  checkedSchema,
  createLockSchema,
  DEFAULT_LOCK_SCHEMA,
  idFromStored,
  lockSchemaIsThere,
  storableId,
} from "../../postgres/postgres-lock-schema";
import {
  parseLeaseRecord,
  serializeLeaseRecord,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "../protocol/lease-record";
import {
  PermanentLeaseStoreError,
  recordVersion,
  TransientLeaseStoreError,
  type ClaimedLease,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "../protocol/lease-record-store";
import { PostgresNotices } from "./postgres-notices";

export interface PostgresLeaseRecordStoreSettings {
  /** A URL, a configuration of pg, or a pool of pg whose configuration is taken. */
  readonly url: PostgresPlace;
  /** Made if it is missing. Default: `holdfast_locks`. */
  readonly schema?: string;
  readonly maxConnections?: number;
}

/** SQLSTATE: no such user or database, wrong password, not allowed. */
const PERMANENT = /^(28...|3D000|42501)$/;
const VERSION = /^\d{1,18}$/;

/** One record is one row; its version comes from a sequence that all rows share and that never goes back. */
export class PostgresLeaseRecordStore implements LeaseRecordStore {
  private readonly database: PostgresDatabase;
  private readonly notices: PostgresNotices;
  private readonly schema: string;
  private prepared: Promise<void> | undefined;

  constructor({ url, schema = DEFAULT_LOCK_SCHEMA, maxConnections = 4 }: PostgresLeaseRecordStoreSettings) {
    this.schema = checkedSchema(schema);
    this.database = new PostgresDatabase(url, { maxConnections });
    this.notices = new PostgresNotices(this.database, `${schema}_leases`);
  }

  async read(id: string): Promise<ReadLeaseRecord | null> {
    const [row] = await this.ask<{ record: string; version: bigint; now: bigint }>(
      `cannot read the lease of ${id}`,
      `SELECT record, version, (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now
       FROM ${this.schema}.leases WHERE key = $1`,
      keyOf(id),
    );
    if (row === undefined) return null;
    const version = recordVersion(row.version);
    const place = `the row of "${id}" in ${this.schema}.leases`;
    return { record: parseLeaseRecord(row.record, place), version, storeNowMs: Number(row.now) };
  }

  async ageMs(id: string, version: RecordVersion): Promise<number | null> {
    if (!VERSION.test(version)) return null;
    const [row] = await this.ask<{ age: bigint }>(
      `cannot look at the lease of ${id}`,
      `SELECT greatest(0, floor(extract(epoch FROM clock_timestamp() - written_at) * 1000))::bigint AS age
       FROM ${this.schema}.leases WHERE key = $1 AND version = $2`,
      keyOf(id),
      version,
    );
    return row === undefined ? null : Number(row.age);
  }

  async write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict"> {
    const written = await this.put(id, record, ifVersion, null);
    return written === "conflict" ? written : written.version;
  }

  claim(
    id: string,
    record: LeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<ClaimedLease | "conflict"> {
    return this.put(id, record, ifVersion, record.fence);
  }

  async remove(id: string, ifVersion: RecordVersion): Promise<void> {
    if (!VERSION.test(ifVersion)) return;
    await this.ask(
      `cannot remove the lease of ${id}`,
      `DELETE FROM ${this.schema}.leases WHERE key = $1 AND version = $2`,
      keyOf(id),
      ifVersion,
    );
  }

  onReleased(id: string, wake: () => void): () => void {
    return this.notices.listen(keyOf(id), wake);
  }

  /** The ids that have a record here. */
  async *resourceIds(): AsyncGenerator<string> {
    const rows = await this.ask<{ resource_id: string }>(
      "cannot list the leases",
      `SELECT resource_id FROM ${this.schema}.leases ORDER BY resource_id`,
    );
    for (const row of rows) yield idFromStored(row.resource_id);
  }

  /** Rejects when the server does not answer, or the schema can neither be used nor made. */
  async probe(): Promise<void> {
    await this.ask("cannot reach PostgreSQL", "SELECT 1");
  }

  /** Takes 5 s at most, also if the server does not answer. */
  async close(): Promise<void> {
    await Promise.all([this.notices.close(), this.database.close()]);
  }

  private async put(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
    leastFence: number | null,
  ): Promise<ClaimedLease | "conflict"> {
    if (ifVersion !== "absent" && !VERSION.test(ifVersion)) return "conflict";
    // In text that is JSON, only a key looks as a key does.
    const text = `CASE WHEN $4::bigint IS NULL THEN $2
      ELSE regexp_replace($2, '"fence":\\d+', '"fence":' || (SELECT fence FROM claim)) END`;
    const values = `${text}, nextval('${this.schema}.lease_version'), clock_timestamp()`;
    const change =
      ifVersion === "absent"
        ? `INSERT INTO ${this.schema}.leases (key, record, version, written_at, resource_id)
           VALUES ($1, ${values}, $3) ON CONFLICT DO NOTHING RETURNING version`
        : `UPDATE ${this.schema}.leases SET (record, version, written_at) = ROW (${values})
           WHERE key = $1 AND version = $3 RETURNING version`;
    // With the commit, so that whoever is woken finds it free.
    const tell = record.ownerId === null ? `, pg_notify('${this.schema}_leases', $1)` : "";
    const [row] = await this.ask<{ version: bigint; fence: bigint | null }>(
      `cannot write the lease of ${id}`,
      `WITH claim AS MATERIALIZED (
         SELECT greatest($4::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 1) AS fence
       ), written AS (${change})
       SELECT version, (SELECT fence FROM claim) AS fence${tell} FROM written`,
      keyOf(id),
      serializeLeaseRecord(record),
      ifVersion === "absent" ? storableId(id) : ifVersion,
      leastFence,
    );
    if (row === undefined) return "conflict";
    return { version: recordVersion(row.version), fence: Number(row.fence) };
  }

  private async ask<Row>(doing: string, text: string, ...values: unknown[]): Promise<readonly Row[]> {
    try {
      await (this.prepared ??= this.prepare());
      // Once: a write that is repeated by itself would meet its own trace as a conflict.
      return await this.database.once(CompiledQuery.raw(text, values));
    } catch (error) {
      const { message, cause } = error as Error;
      const code = (cause as { readonly code?: unknown } | undefined)?.code;
      const why = `${doing}: ${message}`;
      throw typeof code === "string" && PERMANENT.test(code)
        ? new PermanentLeaseStoreError(why, { cause: error })
        : new TransientLeaseStoreError(why, { cause: error });
    }
  }

  private async prepare(): Promise<void> {
    try {
      await this.database.session(async (client) => {
        const { rows } = await client.query<{ there: boolean }>(lockSchemaIsThere(this.schema));
        if (rows[0]?.there !== true) await client.query(createLockSchema(this.schema));
      });
    } catch (error) {
      this.prepared = undefined;
      throw new Error((error as Error).message, { cause: error });
    }
  }
}

/** Of any id, whatever is in it and however long it is. */
function keyOf(id: string): string {
  return createHash("sha256").update(id).digest("hex");
}
