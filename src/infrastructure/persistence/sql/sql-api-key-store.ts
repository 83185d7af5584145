import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import type { ApiKey, ApiKeyStore, NewApiKey } from "../../../application/ports/api-key-store";
import type { MerchantId } from "../../../domain/identifiers";
import { toDate, toDateOrNull, toMs } from "./payment-rows";
import { PreparedQuery } from "./prepared-query";
import type { SqlDatabase } from "./sql-database";
import type { ApiKeyRow } from "./tables";

export type ShownKeyRow = Omit<ApiKeyRow, "secret_hash">;

export const apiKeyColumns = [
  "id",
  "merchant_id",
  "operator",
  "name",
  "prefix",
  "created_at",
  "revoked_at",
  "last_used_at",
] as const;

/**
 * API keys beside the payments. Reads the store for each question, so a revoked key is refused at once.
 * Survives what the store survives; keys are revoked, never deleted.
 * Not for secrets: it has their hashes only.
 */
export class SqlApiKeyStore implements ApiKeyStore {
  private readonly bySecretHash: PreparedQuery<{ secretHash: string }, ShownKeyRow>;
  private readonly first: PreparedQuery<object, { id: string }>;
  private everCreated = false;

  constructor(private readonly database: SqlDatabase) {
    const db = database.queries;
    this.bySecretHash = new PreparedQuery((arg) =>
      db
        .selectFrom("api_keys")
        .select(apiKeyColumns)
        .where("secret_hash", "=", arg("secretHash"))
        .where("revoked_at", "is", null),
    );
    this.first = new PreparedQuery(() => db.selectFrom("api_keys").select("id").limit(1));
  }

  async create(key: NewApiKey, entry?: AuditEntry): Promise<ApiKey> {
    const { secretHash, ...shown } = key;
    await this.database.acted(
      this.database.queries
        .insertInto("api_keys")
        .values({
          id: key.id,
          merchant_id: key.merchant,
          operator: key.operator ? 1n : 0n,
          name: key.name,
          prefix: key.prefix,
          secret_hash: secretHash,
          created_at: toMs(key.createdAt),
          revoked_at: null,
          last_used_at: null,
        })
        .returning("id")
        .compile(),
      entry,
    );
    return { ...shown, revokedAt: null, lastUsedAt: null };
  }

  async list(): Promise<readonly ApiKey[]> {
    const all = this.database.queries
      .selectFrom("api_keys")
      .select(apiKeyColumns)
      .orderBy("created_at")
      .orderBy("id");
    return (await this.database.rows(all.compile(), "list")).map(toApiKey);
  }

  async revoke(id: string, at: Date, entry?: AuditEntry): Promise<ApiKey | null> {
    const revoked = this.database.queries
      .updateTable("api_keys")
      .set({ revoked_at: toMs(at) })
      .where("id", "=", id)
      .where("revoked_at", "is", null)
      .returning(apiKeyColumns);
    const [row] = await this.database.acted(revoked.compile(), entry);
    if (row !== undefined) return toApiKey(row);
    const known = this.database.queries.selectFrom("api_keys").select(apiKeyColumns).where("id", "=", id);
    const [revokedBefore] = await this.database.rows(known.compile());
    return revokedBefore === undefined ? null : toApiKey(revokedBefore);
  }

  async noteUse(id: string, at: Date): Promise<void> {
    const atMs = toMs(at);
    const noted = this.database.queries
      .updateTable("api_keys")
      .set({ last_used_at: atMs })
      .where("id", "=", id)
      .where((row) => row.or([row("last_used_at", "is", null), row("last_used_at", "<", atMs)]));
    await this.database.rows(noted.returning("id").compile());
  }

  async findBySecretHash(secretHash: string): Promise<ApiKey | null> {
    const [row] = await this.database.rows(this.bySecretHash.with({ secretHash }));
    return row === undefined ? null : toApiKey(row);
  }

  async anyEverCreated(): Promise<boolean> {
    this.everCreated ||= (await this.database.rows(this.first.with({}))).length > 0;
    return this.everCreated;
  }
}

export function toApiKey(row: ShownKeyRow): ApiKey {
  return {
    id: row.id,
    merchant: row.merchant_id as MerchantId,
    operator: row.operator === 1n,
    name: row.name,
    prefix: row.prefix,
    createdAt: toDate(row.created_at),
    revokedAt: toDateOrNull(row.revoked_at),
    lastUsedAt: toDateOrNull(row.last_used_at),
  };
}
