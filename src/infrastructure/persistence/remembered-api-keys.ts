import type { ApiKey, ApiKeyStore, NewApiKey } from "../../application/ports/api-key-store";

/** Half of the second within which the port promises that a revoked key is noticed. */
const REMEMBERED_FOR_MS = 500;
/** Only secrets that were found are kept, so that a stranger cannot fill this memory. */
const MAX_REMEMBERED_KEYS = 10_000;

/** A question that was asked at `askedAtMs`: its answer is as old as the question, not as young as its arrival. */
interface Asked<Answer> {
  readonly askedAtMs: number;
  readonly answer: Promise<Answer>;
}

/**
 * Remembers answers for half a second, so that a store is not asked for the same key with each request; requests that come
 * while it is being asked share the question. What is unknown, or failed, is asked for again each time.
 */
export class RememberedApiKeys implements ApiKeyStore {
  private readonly keys = new Map<string, Asked<ApiKey | null>>();
  private anyCreated: Asked<boolean> | undefined;
  /** There is no way back from it: revoking the last key does not open the server. */
  private everCreated = false;

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
    this.keys.clear();
    return revoked;
  }

  async findBySecretHash(secretHash: string): Promise<ApiKey | null> {
    const known = this.keys.get(secretHash);
    if (known !== undefined && this.isFresh(known)) return known.answer;
    const asked = this.ask(() => this.store.findBySecretHash(secretHash));
    this.keys.delete(secretHash);
    const oldest = this.keys.size >= MAX_REMEMBERED_KEYS ? this.keys.keys().next().value : undefined;
    if (oldest !== undefined) this.keys.delete(oldest);
    this.keys.set(secretHash, asked);
    let key: ApiKey | null = null;
    try {
      key = await asked.answer;
    } finally {
      if (key === null && this.keys.get(secretHash) === asked) this.keys.delete(secretHash);
    }
    return key;
  }

  async anyEverCreated(): Promise<boolean> {
    if (this.everCreated) return true;
    if (this.anyCreated === undefined || !this.isFresh(this.anyCreated))
      this.anyCreated = this.ask(() => this.store.anyEverCreated());
    const asked = this.anyCreated;
    try {
      const ever = await asked.answer;
      this.everCreated ||= ever;
      return ever;
    } catch (error) {
      if (this.anyCreated === asked) this.anyCreated = undefined;
      throw error;
    }
  }

  private ask<Answer>(question: () => Promise<Answer>): Asked<Answer> {
    return { askedAtMs: this.monotonicMs(), answer: question() };
  }

  private isFresh({ askedAtMs }: Asked<unknown>): boolean {
    return this.monotonicMs() - askedAtMs < REMEMBERED_FOR_MS;
  }
}
