import {
  PostgresDatabase,
  type PostgresOptions,
} from "../../../src/infrastructure/persistence/postgres/postgres-database";
import { PostgresMigration } from "../../../src/infrastructure/persistence/postgres/postgres-migration";
import { SystemClock } from "../../../src/infrastructure/time/system-clock";

/** The store in a test's own database. Whoever asks for it closes it. */
export async function migratedPostgres(url: string, options?: PostgresOptions): Promise<PostgresDatabase> {
  const postgres = new PostgresDatabase(url, options);
  await new PostgresMigration(postgres, new SystemClock()).migrate();
  return postgres;
}
