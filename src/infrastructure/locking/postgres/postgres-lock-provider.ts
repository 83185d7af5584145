// Not safe across a failover to a standby: advisory locks are not replicated, and both sides may lend the same one.
// Excludes: everyone who locks in the same database and schema, from any machine.
// Survives: any process killed (its session ends, its locks are free), a lost connection (told to its holders at once).
// Not for: transaction-pooling proxies (refused in words), nor for work that must outlive its connection.
import type { PostgresPlace } from "../../persistence/postgres/postgres-place";
import { LinedLockProvider } from "../line/lined-lock-provider";
import type { LockProviderSettings } from "../lock-settings";
import { PostgresLockBackend, type PostgresLockOptions } from "./postgres-lock-backend";

export class PostgresLockProvider extends LinedLockProvider {
  private readonly postgres: PostgresLockBackend;

  /**
   * `where`: a URL, a configuration of pg, or a pool of pg whose configuration is taken. Connects with the first lock, by a
   * connection of its own, which `close` ends; a pool stays yours, with all of its connections.
   */
  constructor(where: PostgresPlace, options?: PostgresLockOptions);
  /** @deprecated Give one object of options. */
  constructor(where: PostgresPlace, options: PostgresLockOptions, settings: LockProviderSettings);
  constructor(where: PostgresPlace, options: PostgresLockOptions = {}, settings: LockProviderSettings = {}) {
    const all = { ...options, ...settings };
    const postgres = new PostgresLockBackend(where, all);
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
