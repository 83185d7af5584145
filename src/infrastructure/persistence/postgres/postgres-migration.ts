import type { Clock } from "../../../application/ports/clock";
import type { MigrationReport, StoreMigration } from "../../../application/ports/store-migration";
import { SchemaTooNewError } from "../../../application/ports/store-migration";
import { createMigrationTable, missingMigrations } from "../migrations/migration-plan";
import type { Migration } from "../migrations/migration";
import { migrations } from "../migrations/migrations";
import type { PostgresDatabase } from "./postgres-database";
import type { Client } from "./postgres-driver";
import { translatePostgresError } from "./postgres-errors";
import { changeSchema, takeStep } from "./postgres-schema-change";

/** Any number, the same in every process: who has it migrates. */
const MIGRATION_LOCK = 4_703_919_738_795_935_662n;

/** All missing steps in one transaction, one process at a time: the schema is at the old version or at the new one. */
export class PostgresMigration implements StoreMigration {
  constructor(
    private readonly database: PostgresDatabase,
    private readonly clock: Clock,
    private readonly known: readonly Migration[] = migrations,
  ) {}

  async migrate(): Promise<MigrationReport> {
    try {
      return await changeSchema(this.database, MIGRATION_LOCK, (client) => this.migrateOver(client));
    } catch (error) {
      throw error instanceof SchemaTooNewError ? error : translatePostgresError(error);
    }
  }

  private async migrateOver(client: Client): Promise<MigrationReport> {
    await client.query(createMigrationTable("postgres"));
    const found = await client.query<{ version: bigint | null }>(
      "SELECT max(version) AS version FROM schema_migrations",
    );
    const from = Number(found.rows[0]?.version ?? 0);
    const missing = missingMigrations(from, this.known);
    for (const migration of missing) {
      for (const text of migration.statements("postgres")) await takeStep(client, text);
      await client.query("INSERT INTO schema_migrations (version, applied_at) VALUES ($1, $2)", [
        migration.version,
        this.clock.now().getTime(),
      ]);
    }
    return { from, to: missing.at(-1)?.version ?? from };
  }
}
