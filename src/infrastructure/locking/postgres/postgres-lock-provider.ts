// Not safe across a failover to a standby: advisory locks are not replicated, and both sides may lend the same one.
// Excludes: everyone who locks in the same database and schema, from any machine.
// Survives: any process killed (its session ends, its locks are free), a lost connection (told to its holders at once).
// Not for: transaction-pooling proxies (refused in words), nor for work that must outlive its connection.
import { LinedLockProvider } from "../line/lined-lock-provider";
import type { LockProviderSettings } from "../lock-settings";
import { PostgresLockBackend, type PostgresLockOptions } from "./postgres-lock-backend";

export class PostgresLockProvider extends LinedLockProvider {
  private readonly postgres: PostgresLockBackend;

  /** Connects with the first lock. */
  constructor(url: string, options?: PostgresLockOptions);
  /** @deprecated Give one object of options. */
  constructor(url: string, options: PostgresLockOptions, settings: LockProviderSettings);
  constructor(url: string, options: PostgresLockOptions = {}, settings: LockProviderSettings = {}) {
    const all = { ...options, ...settings };
    const postgres = new PostgresLockBackend(url, all);
    super(postgres, all);
    this.postgres = postgres;
  }

  /** Whether there has ever been a session, which alone can hold a lock. */
  get hasConnected(): boolean {
    return this.postgres.hasConnected;
  }

  /** Rejects when the server does not answer. */
  probe(): Promise<void> {
    return this.postgres.probe();
  }
}
