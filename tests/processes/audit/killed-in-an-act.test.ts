import { spawn } from "node:child_process";
import { once } from "node:events";
import type { CompiledQuery } from "kysely";
import type { SqlDatabase } from "../../../src/infrastructure/persistence/sql/sql-database";
import { typescriptChild } from "../../support/children/typescript-child";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { size } from "../../support/test-size";
import { openMigrated, temporarySqlite } from "../../support/worlds/temporary-sqlite";

jest.setTimeout(60_000);

const ROUNDS = size(20, 3);

/** Kills a process that creates keys, at some moment after its first one. */
async function killedWhileCreating(kind: "sqlite" | "postgres", place: string, round: number): Promise<void> {
  const { file, args } = typescriptChild("audit/audited-acts-child.ts", kind, place);
  const child = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "exit");
  await once(child.stdout, "data");
  await new Promise((resolve) => setTimeout(resolve, (round * 7) % 23));
  child.kill("SIGKILL");
  await ended;
}

async function expectEntryOfEach(database: SqlDatabase): Promise<number> {
  const { queries } = database;
  const ids = async (query: { compile(): CompiledQuery<{ id: string }> }) =>
    (await database.rows(query.compile())).map(({ id }) => id).sort();
  const keys = await ids(queries.selectFrom("api_keys").select("id"));
  expect(await ids(queries.selectFrom("audit_entries").select("subject as id"))).toEqual(keys);
  return keys.length;
}

test("an operator's process that is killed in SQLite leaves no act without its entry, and no entry without its act", async () => {
  const { path, sqlite, close } = await temporarySqlite();
  sqlite.close();
  let acts = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    await killedWhileCreating("sqlite", path, round);
    const again = await openMigrated(path);
    acts = await expectEntryOfEach(again);
    again.close();
  }
  expect(acts).toBeGreaterThanOrEqual(ROUNDS);
  await close();
});

describeWithPostgresSchemas("an operator's process at PostgreSQL", (server) => {
  test("an operator's process that is killed at PostgreSQL leaves no act without its entry, and no entry without its act", async () => {
    const postgres = await migratedPostgres(server.url);
    let acts = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      await killedWhileCreating("postgres", server.url, round);
      acts = await expectEntryOfEach(postgres);
    }
    expect(acts).toBeGreaterThanOrEqual(ROUNDS);
    await postgres.close();
  });
});
