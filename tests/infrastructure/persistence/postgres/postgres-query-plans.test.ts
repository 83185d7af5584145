import type { CompiledQuery } from "kysely";
import { Client } from "pg";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import type { PostgresDatabase } from "../../../../src/infrastructure/persistence/postgres/postgres-database";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import { storeQuestions } from "../store-questions";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

/** Later than what the questions ask for. */
const FAR_AHEAD_MS = 2_000_000_000_000;

/** Enough payments that one index is better than another, few enough to make in a moment. */
const MANY_PAYMENTS = `
  INSERT INTO payments
  SELECT 'p' || n, 'acme', 1, 'authorized', CASE n % 3 WHEN 0 THEN 'captured' ELSE 'capturing' END, 1000, 'EUR', 0, 0,
    'tok_ok', 'order-' || n, '{}', NULL, n, n, ${FAR_AHEAD_MS} + n, n, 0
  FROM generate_series(1, 3000) n;
  INSERT INTO operations
  SELECT 'o' || n || '-' || k, 'p' || n, 'acme', k, CASE k WHEN 0 THEN 'authorize' ELSE 'capture' END,
    'key-' || n, '', 1000, 1, CASE k WHEN 0 THEN 'succeeded' ELSE CASE n % 2 WHEN 0 THEN 'unknown' ELSE 'needs_review' END END,
    NULL, NULL, NULL, 0, 0, n, n, n, CASE WHEN k = 1 AND n % 2 = 0 THEN ${FAR_AHEAD_MS} + n END, n
  FROM generate_series(1, 3000) n CROSS JOIN generate_series(0, 1) k;
  INSERT INTO events SELECT 'e' || n, 'p' || n, 1, 'x', n, '{}' FROM generate_series(1, 3000) n;
  ANALYZE payments, operations, events;
`;

describeWithPostgresSchemas(
  "with many payments, no question to PostgreSQL reads a whole table:",
  (server) => {
    let postgres: PostgresDatabase;
    let operator: Client;
    beforeEach(async () => {
      postgres = await migratedPostgres(server.url);
      operator = new Client({ connectionString: server.url });
      await operator.connect();
    });
    afterEach(async () => {
      await operator.end();
      await postgres.close();
    });

    async function plan({ sql, parameters }: CompiledQuery): Promise<string> {
      const { rows } = await operator.query<{ "QUERY PLAN": string }>(`EXPLAIN ${sql}`, [...parameters]);
      return rows.map((row) => row["QUERY PLAN"]).join("\n");
    }

    it("each goes by the index that is there for it", async () => {
      await operator.query(MANY_PAYMENTS);
      // So few rows may be read whole. With this, a table is read whole only where no index answers.
      await operator.query("SET enable_seqscan = off");
      const repository = new PostgresPaymentRepository(postgres);
      const asked: CompiledQuery[] = [];
      // Hears every query on its way to the real database.
      const rows = postgres.rows.bind(postgres);
      postgres.rows = async (query) => {
        asked.push(query);
        return rows(query);
      };
      for (const { name, index, ask } of storeQuestions((table) => `${table}_pkey`)) {
        asked.length = 0;
        await ask(repository);
        const plans = await Promise.all(asked.map(plan));
        expect([name, plans.join("\n")]).toEqual([name, expect.stringContaining(index)]);
        expect([name, plans.join("\n")]).toEqual([name, expect.not.stringContaining("Seq Scan")]);
      }
    });
  },
);
