import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { SqliteMigration } from "../../../../src/infrastructure/persistence/sqlite/sqlite-migration";
import { SystemClock } from "../../../../src/infrastructure/time/system-clock";

// A process that opens the file when told to, migrates it and says from where to where.
async function main(path: string): Promise<void> {
  await new Promise((told) => process.stdin.once("data", told));
  const sqlite = await SqliteDatabase.open(path);
  const { from, to } = await new SqliteMigration(sqlite, new SystemClock()).migrate();
  process.stdout.write(`${from}-${to}\n`);
  sqlite.close();
  process.stdin.unref();
}

void main(process.argv[2]!);
