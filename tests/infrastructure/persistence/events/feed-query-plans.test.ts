import { CompiledQuery } from "kysely";
import { Client } from "pg";
import type { EventFeed, FeedQuery } from "../../../../src/application/ports/events/event-feed";
import { parseMerchantId, parsePaymentId } from "../../../../src/domain/identifiers";
import { PublicationsHeard } from "../../../../src/infrastructure/persistence/events/publications-heard";
import { PostgresEventFeed } from "../../../../src/infrastructure/persistence/postgres/postgres-event-feed";
import { SqliteEventFeed } from "../../../../src/infrastructure/persistence/sqlite/sqlite-event-feed";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import { temporarySqlite } from "../../../support/worlds/temporary-sqlite";

const merchant = parseMerchantId("acme");
const paymentId = parsePaymentId("0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b");
const types = ["payment.voided"] as const;
const questions: readonly (readonly [string, Partial<FeedQuery>])[] = [
  ["everything", {}],
  ["a merchant's", { merchant }],
  ["some types", { types }],
  ["some types of a merchant's", { types, merchant }],
  ["a payment's", { paymentId, merchant, types }],
];
const INSERT = "INSERT INTO public_events (id, payment_id, merchant_id, type, at, sequence, content)";

describe("with many events, no question to the feed of SQLite reads a whole table:", () => {
  test.each(questions)("SQLite answers %s from an index", async (_, query) => {
    const { sqlite, close } = await temporarySqlite();
    try {
      sqlite.execute(
        `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
          ${INSERT} SELECT 'e' || i, 'p' || i, 'acme', 'x', 0, 1, '{}' FROM n`,
      );
      const asked: CompiledQuery[] = [];
      const rows = sqlite.rows.bind(sqlite);
      sqlite.rows = async (one) => {
        asked.push(one);
        return rows(one);
      };
      const feed: EventFeed = new SqliteEventFeed(sqlite, new PublicationsHeard());
      await feed.read({ after: 10, limit: 20, ...query });
      expect(await feed.eventIdAt(11)).toBe("e11");
      const steps = asked.flatMap(({ sql, parameters }) =>
        (
          sqlite.all(CompiledQuery.raw(`EXPLAIN QUERY PLAN ${sql}`, [...parameters])) as { detail: string }[]
        ).map(({ detail }) => detail),
      );
      expect(steps.filter((step) => /^SCAN public_events|TEMP B-TREE/.test(step))).toEqual([]);
      if (query.paymentId !== undefined)
        expect(steps.join("\n")).toContain("one_public_event_per_sequence (payment_id=?");
    } finally {
      await close();
    }
  });
});

describeWithPostgresSchemas(
  "with many events, no question to the feed of PostgreSQL reads all:",
  (server) => {
    // Each test makes the whole schema, on a server that others use, too.
    jest.setTimeout(30_000);

    const byQuestion: Readonly<Record<string, string>> = {
      everything: "public_events_in_order",
      "a merchant's": "public_events_of_merchant",
      "some types": "public_events_in_order",
      "some types of a merchant's": "public_events_of_merchant",
      "a payment's": "one_public_event_per_sequence",
    };

    test.each(questions)("PostgreSQL answers %s from an index", async (name, query) => {
      const postgres = await migratedPostgres(server.url);
      const operator = new Client({ connectionString: server.url });
      await operator.connect();
      try {
        await operator.query(
          `${INSERT} SELECT 'e' || i, 'p' || i, CASE i % 9 WHEN 0 THEN 'acme' ELSE 'globex' END, 'x', 0, 1, '{}'
          FROM generate_series(1, 3000) AS i`,
        );
        const feed: EventFeed = new PostgresEventFeed(postgres, new PublicationsHeard());
        // Analyzed before there are positions, as a table may be that nobody has read from for a while.
        await operator.query("ANALYZE public_events");
        await feed.latest();
        const asked: CompiledQuery[] = [];
        const rows = postgres.rows.bind(postgres);
        postgres.rows = async (one) => {
          asked.push(one);
          return rows(one);
        };
        await feed.read({ after: 10, limit: 20, ...query });
        expect(await feed.eventIdAt(11)).toBe("e11");
        const plans: string[] = [];
        for (const { sql, parameters } of asked) {
          const explained = await operator.query<{ "QUERY PLAN": string }>(
            `EXPLAIN ${sql}`,
            parameters.map(String),
          );
          plans.push(explained.rows.map((step) => step["QUERY PLAN"]).join("\n"));
        }
        const [state, ...reads] = plans;
        expect(reads.pop()).toContain("public_events_in_order");
        expect(state).toContain("public_events_without_position");
        expect(state).not.toContain("Seq Scan");
        await operator.query("ANALYZE public_events");
        expect(reads.length).toBeGreaterThan(0);
        for (const plan of reads) expect(plan).toContain(byQuestion[name]);
      } finally {
        await operator.end();
        await postgres.close();
      }
    });
  },
);
