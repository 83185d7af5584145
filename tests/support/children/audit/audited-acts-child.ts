import { ManageApiKeys } from "../../../../src/application/use-cases/manage-api-keys";
import { parseMerchantId } from "../../../../src/domain/identifiers";
import { UuidV7Generator } from "../../../../src/infrastructure/identity/uuid-v7-generator";
import { PostgresDatabase } from "../../../../src/infrastructure/persistence/postgres/postgres-database";
import { SqlApiKeyStore } from "../../../../src/infrastructure/persistence/sql/sql-api-key-store";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { SystemClock } from "../../../../src/infrastructure/time/system-clock";

/** Creates keys, one after the other, until it is killed. */
async function main(kind: string, place: string): Promise<void> {
  const database = kind === "sqlite" ? await SqliteDatabase.open(place) : new PostgresDatabase(place);
  const clock = new SystemClock();
  const ids = new UuidV7Generator(clock);
  const keys = new ManageApiKeys(new SqlApiKeyStore(database), clock, ids, () => `hf_${ids.nextId()}`);
  const wish = { merchant: parseMerchantId("acme"), operator: false, name: null };
  const act = {
    actor: { type: "user", name: "tester" },
    origin: { over: "command", host: "here" },
    reason: null,
  } as const;
  for (;;) {
    await keys.create(wish, act);
    process.stdout.write("created\n");
  }
}

void main(process.argv[2] ?? "", process.argv[3] ?? "");
