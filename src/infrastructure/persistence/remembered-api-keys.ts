import type { ApiKey, ApiKeyStore, NewApiKey } from "../../application/ports/api-key-store";

/** Half of the second within which the port promises that a revoked key is noticed. */
const REMEMBERED_FOR_MS = 500;

/**
 * Remembers answers for half a second, so that a store across a network is not asked for the same key with each
 * request. What is unknown is asked for each time: strangers cannot fill this memory.
 */
export class RememberedApiKeys implements ApiKeyStore {
  private readonly found = new Map<string, { readonly key: ApiKey; readonly atMs: number }>();
  private anyCreated: { readonly answer: boolean; readonly atMs: number } | undefined;

  constructor(
    private readonly store: ApiKeyStore,
    /** Milliseconds of a clock that does not jump. */
    private readonly monotonicMs: () => number,
  ) {}

  async create(key: NewApiKey): Promise<ApiKey> {
    const created = await this.store.create(key);
    this.anyCreated = undefined;
    return created;
  }

  list(): Promise<readonly ApiKey[]> {
    return this.store.list();
  }

  async revoke(id: string, at: Date): Promise<ApiKey | null> {
    const revoked = await this.store.revoke(id, at);
    this.found.clear();
    return revoked;
  }

  async findBySecretHash(secretHash: string): Promise<ApiKey | null> {
    const known = this.found.get(secretHash);
    if (known !== undefined && this.isFresh(known)) return known.key;
    // The answer is as old as the question, not as young as its arrival.
    const atMs = this.monotonicMs();
    const key = await this.store.findBySecretHash(secretHash);
    if (key === null) this.found.delete(secretHash);
    else this.found.set(secretHash, { key, atMs });
    return key;
  }

  async anyEverCreated(): Promise<boolean> {
    if (this.anyCreated !== undefined && this.isFresh(this.anyCreated)) return this.anyCreated.answer;
    const atMs = this.monotonicMs();
    const answer = await this.store.anyEverCreated();
    this.anyCreated = { answer, atMs };
    return answer;
  }

  private isFresh({ atMs }: { readonly atMs: number }): boolean {
    return this.monotonicMs() - atMs < REMEMBERED_FOR_MS;
  }
}
