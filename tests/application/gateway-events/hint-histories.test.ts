import fc from "fast-check";
import { PostgresHintStore } from "../../../src/infrastructure/persistence/postgres/postgres-hint-store";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SqliteHintStore } from "../../../src/infrastructure/persistence/sqlite/sqlite-hint-store";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { isFullStorm, stormSeed } from "../../support/storms";
import { size } from "../../support/test-size";
import { HintsWorld } from "../../support/worlds/hints/hints-world";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { histories, live, scenarios, type Ending, type Scenario } from "./hint-histories";

const seed = stormSeed(20_261_119);

jest.setTimeout(isFullStorm ? 7_200_000 : size(600_000, 120_000));

const endings = new Map<string, Promise<Ending>>();

/** Where a payment ends of which no event is ever heard. */
function askingAlone(scenario: Scenario): Promise<Ending> {
  const name = JSON.stringify(scenario);
  const known = endings.get(name) ?? live(new HintsWorld(), scenario);
  endings.set(name, known);
  return known;
}

/** Resolves with the statuses in which payments have ended. */
async function livesEndAlike(
  numRuns: number,
  open: (label: string) => HintsWorld,
): Promise<readonly string[]> {
  const seen = new Set<string>();
  let lives = 0;
  await fc.assert(
    fc.asyncProperty(scenarios, histories, async (scenario, history) => {
      const ending = await live(open(`life${(lives += 1)}x`), scenario, history);
      seen.add(ending.status);
      expect(ending).toEqual(await askingAlone(scenario));
    }),
    { numRuns, seed },
  );
  return [...seen].sort();
}

describe("histories of hints, shuffled, doubled, late, forged and foreign", () => {
  test("histories of hints all end where asking alone ends, in memory", async () => {
    const seen = await livesEndAlike(isFullStorm ? 100_000 : size(5_000, 100), () => new HintsWorld());
    // They are no histories of nothing.
    expect(seen).toEqual(expect.arrayContaining(["authorized", "captured", "declined", "voided"]));
  });

  test("histories of hints all end where asking alone ends, in SQLite", async () => {
    const { sqlite, close } = await temporarySqlite();
    try {
      const parts = { payments: new SqlitePaymentRepository(sqlite), hints: new SqliteHintStore(sqlite) };
      await livesEndAlike(size(500, 15), (label) => new HintsWorld({ ...parts, label }));
    } finally {
      await close();
    }
  });
});

describeWithPostgresSchemas("histories of hints in PostgreSQL", (server) => {
  test("histories of hints all end where asking alone ends, in PostgreSQL", async () => {
    const postgres = await migratedPostgres(server.url);
    try {
      const parts = {
        payments: new PostgresPaymentRepository(postgres),
        hints: new PostgresHintStore(postgres),
      };
      await livesEndAlike(size(300, 25), (label) => new HintsWorld({ ...parts, label }));
    } finally {
      await postgres.close();
    }
  });
});
