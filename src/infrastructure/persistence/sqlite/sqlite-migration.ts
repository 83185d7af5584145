import type { Clock } from "../../../application/ports/clock";
import type { MigrationReport, StoreMigration } from "../../../application/ports/store-migration";
import { createMigrationTable, missingMigrations } from "../migrations/migration-plan";
import type { Migration } from "../migrations/migration";
import { migrations } from "../migrations/migrations";
import { toMs } from "../sql/payment-rows";
import type { SqliteDatabase } from "./sqlite-database";

/** All missing steps in one transaction: the file is at the old version or at the new one, whoever dies when. */
export class SqliteMigration implements StoreMigration {
  constructor(
    private readonly sqlite: SqliteDatabase,
    private readonly clock: Clock,
    private readonly known: readonly Migration[] = migrations,
  ) {}

  async migrate(): Promise<MigrationReport> {
    const { sqlite } = this;
    let from = 0;
    let to = 0;
    // The write lock is taken before the version is read, so two processes migrate one after the other.
    await sqlite.transaction(() => {
      sqlite.execute(createMigrationTable("sqlite"));
      const [row] = sqlite.all(
        sqlite.queries
          .selectFrom("schema_migrations")
          .select(({ fn }) => fn.max<bigint | null>("version").as("version"))
          .compile(),
      );
      from = Number(row?.version ?? 0);
      to = from;
      for (const migration of missingMigrations(from, this.known)) {
        migration.statements("sqlite").forEach((statement) => {
          sqlite.execute(statement);
        });
        const applied = { version: BigInt(migration.version), applied_at: toMs(this.clock.now()) };
        sqlite.run(sqlite.queries.insertInto("schema_migrations").values(applied).compile());
        to = migration.version;
      }
      // Nothing to commit is nothing to wait for.
      return to > from;
    });
    // The schema is in the file itself: what is left when a log is lost can be read.
    if (to > from) sqlite.checkpoint();
    return { from, to };
  }
}
