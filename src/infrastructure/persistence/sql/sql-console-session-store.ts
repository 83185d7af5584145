import type { ApiKey } from "../../../application/ports/api-key-store";
import type {
  ConsoleSessionStore,
  NewConsoleSession,
} from "../../../application/ports/console/console-session-store";
import { toMs } from "./payment-rows";
import { PreparedQuery } from "./prepared-query";
import { apiKeyColumns, toApiKey, type ShownKeyRow } from "./sql-api-key-store";
import type { SqlDatabase } from "./sql-database";

/**
 * Sessions of the console beside the keys that they were begun with. Reads both for each question, so a session ends with
 * its key everywhere at once.
 * Survives what the store survives.
 * Not for ids: it has their hashes only.
 */
export class SqlConsoleSessionStore implements ConsoleSessionStore {
  private readonly key: PreparedQuery<{ idHash: string; nowMs: bigint }, ShownKeyRow>;

  constructor(private readonly database: SqlDatabase) {
    const db = database.queries;
    this.key = new PreparedQuery((arg) =>
      db
        .selectFrom("console_sessions as s")
        .innerJoin("api_keys as k", "k.id", "s.key_id")
        .select(apiKeyColumns.map((column) => `k.${column}` as const))
        .where("s.id_hash", "=", arg("idHash"))
        .where("s.expires_at", ">", arg("nowMs"))
        .where("k.revoked_at", "is", null)
        .$castTo<ShownKeyRow>(),
    );
  }

  async begin({ idHash, keyId, createdAt, expiresAt }: NewConsoleSession): Promise<void> {
    const { queries } = this.database;
    const over = queries.deleteFrom("console_sessions").where("expires_at", "<=", toMs(createdAt));
    await this.database.rows(over.returning("id_hash").compile());
    const row = {
      id_hash: idHash,
      key_id: keyId,
      created_at: toMs(createdAt),
      expires_at: toMs(expiresAt),
    };
    await this.database.rows(queries.insertInto("console_sessions").values(row).compile());
  }

  async keyOf(idHash: string, now: Date): Promise<ApiKey | null> {
    const [row] = await this.database.rows(this.key.with({ idHash, nowMs: toMs(now) }));
    return row === undefined ? null : toApiKey(row);
  }

  async end(idHash: string): Promise<void> {
    const ended = this.database.queries.deleteFrom("console_sessions").where("id_hash", "=", idHash);
    await this.database.rows(ended.returning("id_hash").compile());
  }
}
