import type { ApiKey, ApiKeyStore, NewApiKey } from "../../../application/ports/api-key-store";

/**
 * API keys in the memory of one process: nobody else sees them.
 * Survives nothing: with the process goes every key.
 * Not for a server that others reach: for trials and tests.
 */
export class InMemoryApiKeyStore implements ApiKeyStore {
  private readonly keys = new Map<string, ApiKey>();
  private readonly ids = new Map<string, string>();

  async create({ secretHash, ...shown }: NewApiKey): Promise<ApiKey> {
    const key: ApiKey = { ...shown, revokedAt: null };
    this.keys.set(key.id, key);
    this.ids.set(secretHash, key.id);
    return key;
  }

  async list(): Promise<readonly ApiKey[]> {
    return [...this.keys.values()].sort(
      (a, b) => a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1),
    );
  }

  async revoke(id: string, at: Date): Promise<ApiKey | null> {
    const key = this.keys.get(id);
    if (key === undefined) return null;
    const revoked: ApiKey = { ...key, revokedAt: key.revokedAt ?? at };
    this.keys.set(id, revoked);
    return revoked;
  }

  async findBySecretHash(secretHash: string): Promise<ApiKey | null> {
    const key = this.keys.get(this.ids.get(secretHash) ?? "");
    return key === undefined || key.revokedAt !== null ? null : key;
  }

  async anyEverCreated(): Promise<boolean> {
    return this.keys.size > 0;
  }
}
