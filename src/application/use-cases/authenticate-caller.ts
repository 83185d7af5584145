import { createHash } from "node:crypto";
import { parseMerchantId, type MerchantId } from "../../domain/identifiers";
import type { ApiKey, ApiKeyStore } from "../ports/api-key-store";
import type { Clock } from "../ports/clock";

/** Whom a request acts for. */
export interface AuthenticatedCaller {
  readonly merchant: MerchantId;
  /** May use the routes that look across merchants. */
  readonly operator: boolean;
  /** Null while no key has ever been created. Names the key; it is not the secret. */
  readonly keyId: string | null;
}

/** The request carries no key, or one that is not valid (any more). Which of these it is, nobody is told. */
export class UnauthorizedError extends Error {
  override readonly name = "UnauthorizedError";
  readonly code = "unauthorized";

  constructor() {
    super("A valid API key is required: Authorization: Bearer <key>.");
  }
}

/** How long an answer of the key store is believed. A revoked key works for at most this long. */
const BELIEVED_FOR_MS = 1_000;
/** Only secrets that were found are kept, so nobody without a key can fill this. */
const MAX_CACHED_KEYS = 10_000;

interface Cached<T> {
  readonly readAt: number;
  readonly value: Promise<T>;
}

/**
 * Finds out whom a secret belongs to. Secrets are looked up by their hash, so the time a comparison takes tells nothing
 * about how much of a guess was right.
 */
export class AuthenticateCaller {
  private readonly keys = new Map<string, Cached<ApiKey | null>>();
  /** Once there has been a key there is no way back, so that answer is asked for only until it is yes. */
  private keysRequired = false;
  private everCreated: Cached<boolean> | undefined;

  constructor(
    private readonly store: Pick<ApiKeyStore, "findBySecretHash" | "anyEverCreated">,
    private readonly clock: Clock,
  ) {}

  async execute(secret: string | null): Promise<AuthenticatedCaller> {
    if (!(await this.anyEverCreated())) {
      return { merchant: parseMerchantId("default"), operator: true, keyId: null };
    }
    if (secret === null) throw new UnauthorizedError();
    const key = await this.keyOf(createHash("sha256").update(secret).digest("hex"));
    if (key === null) throw new UnauthorizedError();
    return { merchant: key.merchant, operator: key.operator, keyId: key.id };
  }

  private async anyEverCreated(): Promise<boolean> {
    if (this.keysRequired) return true;
    if (this.everCreated === undefined || !this.isFresh(this.everCreated)) {
      this.everCreated = { readAt: this.nowMs(), value: this.store.anyEverCreated() };
    }
    const asked = this.everCreated;
    try {
      const ever = await asked.value;
      this.keysRequired ||= ever;
      return ever;
    } catch (error) {
      if (this.everCreated === asked) this.everCreated = undefined;
      throw error;
    }
  }

  private async keyOf(secretHash: string): Promise<ApiKey | null> {
    const known = this.keys.get(secretHash);
    if (known !== undefined && this.isFresh(known)) return known.value;
    const asked = { readAt: this.nowMs(), value: this.store.findBySecretHash(secretHash) };
    this.keys.delete(secretHash);
    const oldest = this.keys.size >= MAX_CACHED_KEYS ? this.keys.keys().next().value : undefined;
    if (oldest !== undefined) this.keys.delete(oldest);
    this.keys.set(secretHash, asked);
    let key: ApiKey | null = null;
    try {
      key = await asked.value;
    } finally {
      if (key === null && this.keys.get(secretHash) === asked) this.keys.delete(secretHash);
    }
    return key;
  }

  /** A clock that was set back makes an entry stale, not eternal. */
  private isFresh({ readAt }: Cached<unknown>): boolean {
    const age = this.nowMs() - readAt;
    return age >= 0 && age < BELIEVED_FOR_MS;
  }

  private nowMs(): number {
    return this.clock.now().getTime();
  }
}
