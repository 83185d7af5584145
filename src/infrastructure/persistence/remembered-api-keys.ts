import type { AuditEntry } from "../../application/ports/audit/audit-trail";
import type { ApiKey, ApiKeyStore, NewApiKey } from "../../application/ports/api-key-store";
import type { Clock } from "../../application/ports/clock";

/** Half of the second within which the port promises that a revoked key is noticed. */
const REMEMBERED_FOR_MS = 500;
/** Only secrets that were found are kept, so that a stranger cannot fill this memory. */
const MAX_REMEMBERED_KEYS = 10_000;
/** How exactly the last use of a key is known: more often would be a write for each request. */
const NOTED_EVERY_MS = 60_000;

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
  /** When the use of a key was written down last. As many as there are keys. */
  private readonly notedMs = new Map<string, number>();

  constructor(
    private readonly store: ApiKeyStore,
    /** Milliseconds of a clock that does not jump. */
    private readonly monotonicMs: () => number,
    /** Left out where nothing may be written: uses are then not noted. */
    private readonly clock?: Clock,
  ) {}

  async create(key: NewApiKey, entry?: AuditEntry): Promise<ApiKey> {
    const created = await this.store.create(key, entry);
    this.anyCreated = undefined;
    return created;
  }

  list(): Promise<readonly ApiKey[]> {
    return this.store.list();
  }

  async revoke(id: string, at: Date, entry?: AuditEntry): Promise<ApiKey | null> {
    const revoked = await this.store.revoke(id, at, entry);
    this.keys.clear();
    return revoked;
  }

  noteUse(id: string, at: Date): Promise<void> {
    return this.store.noteUse(id, at);
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
    if (key !== null) this.noteNow(key);
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

  /** Nobody waits for it, and a use that could not be written down is not worth a failed request. */
  private noteNow({ id }: ApiKey): void {
    const noted = this.notedMs.get(id);
    const nowMs = this.monotonicMs();
    if (this.clock === undefined || (noted !== undefined && nowMs - noted < NOTED_EVERY_MS)) return;
    this.notedMs.set(id, nowMs);
    this.store.noteUse(id, this.clock.now()).catch(() => this.notedMs.delete(id));
  }

  private ask<Answer>(question: () => Promise<Answer>): Asked<Answer> {
    return { askedAtMs: this.monotonicMs(), answer: question() };
  }

  private isFresh({ askedAtMs }: Asked<unknown>): boolean {
    return this.monotonicMs() - askedAtMs < REMEMBERED_FOR_MS;
  }
}
