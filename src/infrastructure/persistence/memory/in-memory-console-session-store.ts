import type { ApiKey, ApiKeyStore } from "../../../application/ports/api-key-store";
import type {
  ConsoleSessionStore,
  NewConsoleSession,
} from "../../../application/ports/console/console-session-store";

/**
 * Sessions of the console in the memory of one process.
 * Survives nothing: with the process goes every session, and every key.
 * Not for several servers: each would know its own sessions alone.
 */
export class InMemoryConsoleSessionStore implements ConsoleSessionStore {
  private readonly sessions = new Map<string, NewConsoleSession>();

  constructor(private readonly keys: Pick<ApiKeyStore, "list">) {}

  async begin(session: NewConsoleSession): Promise<void> {
    for (const { idHash, expiresAt } of this.sessions.values())
      if (expiresAt <= session.createdAt) this.sessions.delete(idHash);
    this.sessions.set(session.idHash, session);
  }

  async keyOf(idHash: string, now: Date): Promise<ApiKey | null> {
    const session = this.sessions.get(idHash);
    if (session === undefined || session.expiresAt <= now) return null;
    const key = (await this.keys.list()).find(({ id }) => id === session.keyId);
    return key === undefined || key.revokedAt !== null ? null : key;
  }

  async end(idHash: string): Promise<void> {
    this.sessions.delete(idHash);
  }
}
