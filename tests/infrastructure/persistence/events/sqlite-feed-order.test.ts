import { CompiledQuery } from "kysely";
import { PublicationsHeard } from "../../../../src/infrastructure/persistence/events/publications-heard";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { SqliteEventFeed } from "../../../../src/infrastructure/persistence/sqlite/sqlite-event-feed";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { authorizedPayment } from "../../../support/worlds/payments";
import { temporarySqlite, type TemporarySqlite } from "../../../support/worlds/temporary-sqlite";

describe("the feed of a SQLite file", () => {
  let temporary: TemporarySqlite;
  beforeEach(async () => {
    temporary = await temporarySqlite();
  });
  afterEach(async () => {
    await temporary.close();
  });

  it("two connections that write in turn: each reads the same order, and none reads what is not committed", async () => {
    const { sqlite, path } = temporary;
    const other = await SqliteDatabase.open(path);
    try {
      const [mine, theirs] = [sqlite, other].map((one) => ({
        repository: new SqlitePaymentRepository(one),
        feed: new SqliteEventFeed(one, new PublicationsHeard()),
      })) as [World, World];
      await mine.repository.save(authorizedPayment(), "new");
      await theirs.repository.save(authorizedPayment(), "new");
      const membership = other.enter();
      other.run(
        CompiledQuery.raw(
          `INSERT INTO public_events (id, merchant_id, type, at, content)
            VALUES ('undone', 'acme', 'webhook_endpoint.disabled', 0, '{}')`,
        ),
      );
      const before = await mine.feed.read({ after: 0, limit: 10 });
      expect(before.events).toHaveLength(2);
      membership.undo();
      await membership.settled;
      await mine.repository.save(authorizedPayment(), "new");
      const next = await theirs.feed.read({ after: before.through, limit: 10 });
      expect(next.events).toHaveLength(1);
      expect(await mine.feed.read({ after: before.through, limit: 10 })).toEqual(next);
    } finally {
      other.close();
    }
  });

  it("a type that is rare is found behind more than one read looks at", async () => {
    const { sqlite } = temporary;
    sqlite.execute(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
        INSERT INTO public_events (id, merchant_id, type, at, content)
        SELECT 'e' || i, 'acme', iif(i = 1001, 'payment.voided', 'payment.captured'), 0, '{}' FROM n`,
    );
    const feed = new SqliteEventFeed(sqlite, new PublicationsHeard());
    const types = ["payment.voided"] as const;
    const first = await feed.read({ after: 0, limit: 10, types });
    expect(first).toEqual({ events: [], through: 1_000, isFull: true });
    const next = await feed.read({ after: first.through, limit: 10, types });
    expect(next.events.map(({ id }) => id)).toEqual(["e1001"]);
    expect(next).toMatchObject({ through: 1_001, isFull: false });
  });

  it.each([
    ["changed", "UPDATE public_events SET content = '{}'"],
    ["moved", "UPDATE public_events SET position = position + 1"],
    ["dropped", "DELETE FROM public_events"],
  ])("what has been told cannot be %s", async (_, statement) => {
    const { sqlite } = temporary;
    await new SqlitePaymentRepository(sqlite).save(authorizedPayment(), "new");
    expect(() => sqlite.execute(statement)).toThrow("never changed or dropped");
  });
});

interface World {
  readonly repository: SqlitePaymentRepository;
  readonly feed: SqliteEventFeed;
}
