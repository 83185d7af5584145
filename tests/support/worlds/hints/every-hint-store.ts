import type { HintStore } from "../../../../src/application/ports/gateway-events/hint-store";
import { InMemoryHintStore } from "../../../../src/infrastructure/persistence/memory/in-memory-hint-store";
import { PostgresHintStore } from "../../../../src/infrastructure/persistence/postgres/postgres-hint-store";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import type { SqlDatabase } from "../../../../src/infrastructure/persistence/sql/sql-database";
import { SqliteHintStore } from "../../../../src/infrastructure/persistence/sqlite/sqlite-hint-store";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../../servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../servers/servers";
import { temporarySqlite } from "../temporary-sqlite";
import { HintsWorld, type HintsWorldParts } from "./hints-world";

export interface StoredHints {
  readonly world: HintsWorld;
  /** Rows that events have left: the ids that are known, and the hints that are kept. */
  rows(): Promise<number>;
}

/** A world whose payments and hints are in the store under test. What it opened is closed after the test. */
export type OpenHints = (parts?: Omit<HintsWorldParts, "payments" | "hints">) => Promise<StoredHints>;

/** The same tests of hints on each store. */
export function describeHintsOnEveryStore(name: string, tests: (open: OpenHints) => void): void {
  const opened: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of opened.splice(0)) await close();
  };
  describe(`${name}, on memory`, () => {
    tests(async (parts) => {
      const hints = new InMemoryHintStore();
      const seen = Reflect.get(hints, "seen") as ReadonlyMap<string, Date>;
      return stored(new HintsWorld({ ...parts, hints }), hints, async () => seen.size);
    });
  });
  describe(`${name}, on SQLite`, () => {
    tests(async (parts) => {
      const { sqlite, close } = await temporarySqlite();
      opened.push(close);
      const hints = new SqliteHintStore(sqlite);
      const world = new HintsWorld({ ...parts, payments: new SqlitePaymentRepository(sqlite), hints });
      return stored(world, hints, () => idsIn(sqlite));
    });
    afterEach(closeAll);
  });
  describeWithPostgresSchemas(`${name}, on PostgreSQL`, (server) => {
    // Each test makes the whole schema, on a server that others use, too.
    jest.setTimeout(30_000);
    tests(async (parts) => {
      const postgres = await migratedPostgres(server.url);
      opened.push(() => postgres.close());
      const hints = new PostgresHintStore(postgres);
      const world = new HintsWorld({ ...parts, payments: new PostgresPaymentRepository(postgres), hints });
      return stored(world, hints, () => idsIn(postgres));
    });
    afterEach(closeAll);
  });
}

function stored(world: HintsWorld, hints: HintStore, ids: () => Promise<number>): StoredHints {
  return { world, rows: async () => (await ids()) + (await hints.backlog()).waiting };
}

async function idsIn(database: SqlDatabase): Promise<number> {
  const ids = database.queries.selectFrom("gateway_events_seen").select("id").compile();
  return (await database.rows(ids, "list")).length;
}
