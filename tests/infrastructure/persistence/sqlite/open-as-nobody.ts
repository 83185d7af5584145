import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { loadSqlite } from "../../../../src/infrastructure/persistence/sqlite/sqlite-driver";

// A process that opens the file with no more rights than its mode gives to strangers, and says what came of it.
async function main(path: string): Promise<void> {
  loadSqlite(); // while it may still be read
  if (process.getuid?.() === 0) {
    process.setgroups!([]);
    process.setgid!(NOBODY);
    process.setuid!(NOBODY);
  }
  try {
    (await SqliteDatabase.open(path)).close();
    process.stdout.write(JSON.stringify({ opened: true }));
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    process.stdout.write(JSON.stringify({ code, message }));
  }
}

const NOBODY = 65_534;

void main(process.argv[2]!);
