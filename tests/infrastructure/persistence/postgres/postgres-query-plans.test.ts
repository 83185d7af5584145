import type { CompiledQuery } from "kysely";
import { Client } from "pg";
import { parsePaymentId } from "../../../../src/domain/identifiers";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import type { PostgresDatabase } from "../../../../src/infrastructure/persistence/postgres/postgres-database";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import { authorizedPayment } from "../../../support/worlds/payments";
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
      const values = parameters.map((value) =>
        value === null ? "NULL" : operator.escapeLiteral(String(value as string | number | bigint)),
      );
      await operator.query(`PREPARE asked AS ${sql}`);
      try {
        const { rows } = await operator.query<{ "QUERY PLAN": string }>(
          `EXPLAIN EXECUTE asked${values.length === 0 ? "" : `(${values.join(", ")})`}`,
        );
        return rows.map((row) => row["QUERY PLAN"]).join("\n");
      } finally {
        await operator.query("DEALLOCATE asked");
      }
    }

    async function plansOf(queries: readonly CompiledQuery[]): Promise<string[]> {
      const plans = [];
      for (const query of queries) plans.push(await plan(query));
      return plans;
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
        const plans = await plansOf(asked);
        expect([name, plans.join("\n")]).toEqual([name, expect.stringContaining(index)]);
        expect([name, plans.join("\n")]).toEqual([name, expect.not.stringContaining("Seq Scan")]);
      }
    });

    it("statements about several payments go by their ids, whether they are planned while the tables are empty or large", async () => {
      const repository = new PostgresPaymentRepository(postgres);
      const asked: CompiledQuery[] = [];
      const once = postgres.once.bind(postgres);
      postgres.once = async (query, options) => {
        asked.push(query);
        return once(query, options);
      };
      const rows = postgres.rows.bind(postgres);
      postgres.rows = async (query) => {
        asked.push(query);
        return rows(query);
      };
      const ids = [1, 2, 3].map((n) => parsePaymentId(`0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1${n}`));
      const saved = await Promise.all([1, 2, 3].map(() => repository.save(authorizedPayment({}), "new")));
      await Promise.all(saved.map(({ payment, version }) => repository.save(payment, version)));
      await Promise.all(ids.map((id) => repository.find(id)));
      // Together: several are read, or updated unless somebody else is at them.
      const reading = asked.filter(({ sql }) => /^\s*SELECT .*ANY/is.test(sql));
      const writing = asked.filter(({ sql }) => sql.includes("SKIP LOCKED"));
      expect([reading, writing].map(({ length }) => length)).toEqual([1, 1]);

      await operator.query("SET enable_seqscan = off");
      // These plans are kept, whatever the values are.
      await operator.query("SET plan_cache_mode = force_generic_plan");
      const plans = () => plansOf([...reading, ...writing]);
      const whileEmpty = await plans();
      await operator.query(MANY_PAYMENTS);
      for (const each of [...whileEmpty, ...(await plans())]) {
        // Each statement goes by ids twice, for each table or step that it must not read as a whole.
        expect(each.match(/Index Cond: .*= (?:ANY|free\.id)/g)).toHaveLength(2);
        expect(each).not.toContain("Seq Scan");
      }
    });
  },
);
