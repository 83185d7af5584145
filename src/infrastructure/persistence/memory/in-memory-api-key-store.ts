import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import type { ApiKey, ApiKeyStore, NewApiKey } from "../../../application/ports/api-key-store";
import { InMemoryAuditTrail } from "./in-memory-audit-trail";

/**
 * API keys in the memory of one process: nobody else sees them.
 * Survives nothing: with the process goes every key.
 * Not for a server that others reach: for trials and tests.
 */
export class InMemoryApiKeyStore implements ApiKeyStore {
  private readonly keys = new Map<string, ApiKey>();
  private readonly ids = new Map<string, string>();

  constructor(private readonly trail = new InMemoryAuditTrail()) {}

  async create({ secretHash, ...shown }: NewApiKey, entry?: AuditEntry): Promise<ApiKey> {
    const key: ApiKey = { ...shown, revokedAt: null, lastUsedAt: null };
    this.keys.set(key.id, key);
    this.ids.set(secretHash, key.id);
    if (entry !== undefined) this.trail.keep(entry);
    return key;
  }

  async list(): Promise<readonly ApiKey[]> {
    return [...this.keys.values()].sort(
      (a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1),
    );
  }

  async revoke(id: string, at: Date, entry?: AuditEntry): Promise<ApiKey | null> {
    const key = this.keys.get(id);
    if (key === undefined || key.revokedAt !== null) return key ?? null;
    const revoked: ApiKey = { ...key, revokedAt: at };
    this.keys.set(id, revoked);
    if (entry !== undefined) this.trail.keep(entry);
    return revoked;
  }

  async noteUse(id: string, at: Date): Promise<void> {
    const key = this.keys.get(id);
    if (key !== undefined && (key.lastUsedAt === null || key.lastUsedAt < at))
      this.keys.set(id, { ...key, lastUsedAt: at });
  }

  async findBySecretHash(secretHash: string): Promise<ApiKey | null> {
    const key = this.keys.get(this.ids.get(secretHash) ?? "");
    return key === undefined || key.revokedAt !== null ? null : key;
  }

  async anyEverCreated(): Promise<boolean> {
    return this.keys.size > 0;
  }
}
