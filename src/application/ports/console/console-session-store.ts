import type { ApiKey } from "../api-key-store";

/**
 * Keeps who is signed in to the console. The id itself is never here, only its SHA-256 hash in hex. Every adapter MUST
 * - have made durable what it acknowledged;
 * - know no session whose time is over, or whose key was revoked, in any process that uses the store;
 * - reject with `StoreUnavailableError` when the store does not answer.
 */
export interface ConsoleSessionStore {
  /** Drops those whose time is over by `createdAt`. */
  begin(session: NewConsoleSession): Promise<void>;
  /** The key that was signed in with. Null if there is no such session any more. */
  keyOf(idHash: string, now: Date): Promise<ApiKey | null>;
  end(idHash: string): Promise<void>;
}

export interface NewConsoleSession {
  readonly idHash: string;
  readonly keyId: string;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}
