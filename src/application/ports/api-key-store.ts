import type { MerchantId } from "../../domain/identifiers";
import type { AuditEntry } from "./audit/audit-trail";

/**
 * Keeps who may call. The secret itself is never here, only its SHA-256 hash in hex. Every adapter MUST
 * - have made durable what it acknowledged;
 * - show a new or revoked key to every process that uses the store within a second;
 * - reject with `StoreUnavailableError` when the store does not answer.
 */
export interface ApiKeyStore {
  create(key: NewApiKey, entry?: AuditEntry): Promise<ApiKey>;
  /** Revoked ones included, oldest first. */
  list(): Promise<readonly ApiKey[]>;
  /** Resolves with the key as it is now, null for an unknown one. A key keeps the instant of its first revocation. */
  revoke(id: string, at: Date, entry?: AuditEntry): Promise<ApiKey | null>;
  /** Remembers the latest of these instants; of a key that is not there, nothing. */
  noteUse(id: string, at: Date): Promise<void>;
  /** Null for an unknown secret and for a revoked key. */
  findBySecretHash(secretHash: string): Promise<ApiKey | null>;
  /** True from the first key on, for ever: revoking the last one does not open the server. */
  anyEverCreated(): Promise<boolean>;
}

export interface ApiKey {
  readonly id: string;
  readonly merchant: MerchantId;
  /** May also use the operator's routes. */
  readonly operator: boolean;
  /** What people call it; null if it has no name. */
  readonly name: string | null;
  /** The beginning of the secret, enough to recognise it and useless to a thief. */
  readonly prefix: string;
  readonly createdAt: Date;
  readonly revokedAt: Date | null;
  /** To the minute; null if it was never used. */
  readonly lastUsedAt: Date | null;
}

export interface NewApiKey extends Omit<ApiKey, "revokedAt" | "lastUsedAt"> {
  readonly secretHash: string;
}
