import { Client } from "pg";
import type { EventFeed } from "../../../../src/application/ports/events/event-feed";
import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import type { Payment } from "../../../../src/domain/payment/payment";
import { PublicationsHeard } from "../../../../src/infrastructure/persistence/events/publications-heard";
import { PostgresEventFeed } from "../../../../src/infrastructure/persistence/postgres/postgres-event-feed";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import type { PostgresDatabase } from "../../../../src/infrastructure/persistence/postgres/postgres-database";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { describeWithPostgres } from "../../../support/servers/servers";
import { authorizedPayment } from "../../../support/worlds/payments";

/** What a test has and lets go of to let a commit through. */
const GATE = 77;

jest.setTimeout(30_000);

describeWithPostgres("transactions that commit in another order than they drew their numbers", (server) => {
  let postgres: PostgresDatabase;
  let repository: PaymentRepository;
  let feed: EventFeed;
  let operator: Client;

  beforeEach(async () => {
    postgres = await migratedPostgres(server.url, { limitsMs: { save: 20_000, read: 20_000, list: 20_000 } });
    repository = new PostgresPaymentRepository(postgres);
    feed = new PostgresEventFeed(postgres, new PublicationsHeard());
    operator = new Client({ connectionString: server.url });
    await operator.connect();
  });
  afterEach(async () => {
    await operator.end();
    await postgres.close();
  });

  /** Saves it; the commit waits at the gate, after everything has been written and each number drawn. */
  async function saveUpToTheGate(payment: Payment): Promise<{ letThrough: () => Promise<void> }> {
    await operator.query("SELECT pg_advisory_lock($1)", [GATE]);
    await operator.query(`
      CREATE FUNCTION wait_at_the_gate() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
          PERFORM set_config('lock_timeout', '0', true);
          PERFORM pg_advisory_xact_lock(${GATE});
          RETURN NULL;
        END $$;
      CREATE CONSTRAINT TRIGGER at_the_gate AFTER INSERT ON public_events
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
        WHEN (NEW.payment_id = '${payment.facts.id}') EXECUTE FUNCTION wait_at_the_gate()`);
    const saved = repository.save(payment, "new");
    await waiting();
    return {
      letThrough: async () => {
        await operator.query("SELECT pg_advisory_unlock($1)", [GATE]);
        await saved;
      },
    };
  }

  /** Until a session of this database waits for a lock. */
  async function waiting(): Promise<void> {
    for (let look = 0; look < 1_000; look += 1) {
      const { rowCount } = await operator.query(
        `SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      if (rowCount !== 0) return;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error("nothing waits");
  }

  /** What one would write first: everything after the highest number that was seen. */
  async function naively(after: bigint): Promise<{ ids: readonly string[]; through: bigint }> {
    const { rows } = await operator.query<{ payment_id: string; drawn: string }>(
      "SELECT payment_id, drawn FROM public_events WHERE drawn > $1 ORDER BY drawn",
      [after.toString()],
    );
    return { ids: rows.map((row) => row.payment_id), through: BigInt(rows.at(-1)?.drawn ?? after) };
  }

  it("a cursor over a serial loses the one that commits late; the feed does not", async () => {
    const late = authorizedPayment();
    const early = authorizedPayment();
    const { letThrough } = await saveUpToTheGate(late);
    await repository.save(early, "new");

    const first = await naively(0n);
    expect(first.ids).toEqual([early.facts.id]);
    const seen = await feed.read({ after: 0, limit: 10 });
    expect(seen.events.map(({ paymentId }) => paymentId)).toEqual([early.facts.id]);

    await letThrough();
    expect(await naively(first.through)).toEqual({ ids: [], through: first.through });
    const next = await feed.read({ after: seen.through, limit: 10 });
    expect(next.events.map(({ paymentId }) => paymentId)).toEqual([late.facts.id]);
  });

  it("a reader does not get past positions that another one has given and not committed", async () => {
    const [one, two] = [authorizedPayment(), authorizedPayment()];
    await repository.save(one, "new");
    await operator.query("BEGIN");
    await operator.query("SELECT give_positions_to_public_events()");
    await repository.save(two, "new");
    const reading = feed.read({ after: 0, limit: 10 });
    await waiting();
    await operator.query("COMMIT");
    const { events } = await reading;
    expect(events.map(({ paymentId }) => paymentId)).toEqual([one.facts.id, two.facts.id]);
  });

  it("a reader that finds another one at it for long shows what has positions, and does not fail", async () => {
    await repository.save(authorizedPayment(), "new");
    await operator.query("BEGIN");
    await operator.query("SELECT give_positions_to_public_events()");
    expect(await feed.read({ after: 0, limit: 10 })).toEqual({ events: [], through: 0, isFull: false });
    await operator.query("ROLLBACK");
    expect((await feed.read({ after: 0, limit: 10 })).events).toHaveLength(1);
  });

  it("more than one batch is ordered before anything is read", async () => {
    await operator.query(
      `INSERT INTO public_events (id, merchant_id, type, at, content)
        SELECT 'e' || n, 'acme', 'webhook_endpoint.disabled', 0, '{}' FROM generate_series(1, 1201) AS n`,
    );
    expect(await feed.latest()).toBe(1201);
    const { events } = await feed.read({ after: 1199, limit: 10 });
    expect(events.map(({ id }) => id)).toEqual(["e1200", "e1201"]);
  });

  it.each([
    ["changed", "UPDATE public_events SET content = '{}'"],
    ["moved", "UPDATE public_events SET position = position + 1"],
    ["dropped", "DELETE FROM public_events"],
    ["emptied", "TRUNCATE public_events"],
  ])("what has been told cannot be %s", async (_, statement) => {
    await repository.save(authorizedPayment(), "new");
    await feed.latest();
    await expect(operator.query(statement)).rejects.toThrow("never changed or dropped");
  });
});
