import { restored } from "../../../../src/domain/payment/restored";
import { CompiledQuery } from "kysely";
import { Client, types } from "pg";
import {
  StoreUnavailableError,
  VersionConflictError,
} from "../../../../src/application/ports/payment-repository";
import type { Payment } from "../../../../src/domain/payment/payment";
import type { Migration } from "../../../../src/infrastructure/persistence/migrations/migration";
import { migrations } from "../../../../src/infrastructure/persistence/migrations/migrations";
import {
  PostgresDatabase,
  type PostgresOptions,
} from "../../../../src/infrastructure/persistence/postgres/postgres-database";
import { PostgresMigration } from "../../../../src/infrastructure/persistence/postgres/postgres-migration";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { SystemClock } from "../../../../src/infrastructure/time/system-clock";
import { budgets } from "../../../../src/application/time-budgets";
import { CONNECT_MS, GOODBYE_MS } from "../../../../src/infrastructure/persistence/postgres/postgres-limits";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import {
  authorizedPayment,
  capturingPayment,
  declines,
  forged,
  settled,
  succeeds,
} from "../../../support/worlds/payments";
import { relayTo, type PostgresRelay } from "../../../support/servers/postgres-relay";
import { describeWithPostgres, describeWithPostgresSchemas } from "../../../support/servers/servers";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

const clock = new SystemClock();
const { savesMs: SAVE_MS, readMs: READ_MS, listMs: LIST_MS } = budgets;
/** Between a timer and this test, on a machine that has other things to do. */
const SLACK_MS = 500;
/** A connection that is being made is waited for. */
const CLOSE_MS = CONNECT_MS + GOODBYE_MS + SLACK_MS;

async function failureOf(
  promise: Promise<unknown>,
): Promise<{ readonly error: unknown; readonly tookMs: number }> {
  const begunAt = performance.now();
  const error: unknown = await promise.then(
    () => "it succeeded",
    (reason: unknown) => reason,
  );
  return { error, tookMs: performance.now() - begunAt };
}

/** Resolves when so many sessions of this database wait for a lock. */
async function waitingForALock(watcher: Client, count: number): Promise<void> {
  for (;;) {
    const { rows } = await watcher.query(
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    );
    if (rows.length === count) return;
  }
}

describeWithPostgresSchemas("payments in PostgreSQL", (server) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function open(url = server.url, options?: PostgresOptions): Promise<PostgresDatabase> {
    const postgres = await migratedPostgres(url, options);
    closing.push(() => postgres.close());
    return postgres;
  }

  async function openUnmigrated(url: string): Promise<PostgresDatabase> {
    const postgres = new PostgresDatabase(url);
    closing.push(() => postgres.close());
    return postgres;
  }

  async function operator(): Promise<Client> {
    const client = new Client({ connectionString: server.url });
    client.on("error", () => {});
    await client.connect();
    closing.push(() => client.end());
    return client;
  }

  describe("over a connection that fails", () => {
    let relay: PostgresRelay;
    let repository: PostgresPaymentRepository;
    let direct: PostgresPaymentRepository;
    const payment = authorizedPayment();

    beforeEach(async () => {
      relay = await relayTo(server.url);
      closing.push(() => relay.close());
      direct = new PostgresPaymentRepository(await open());
      repository = new PostgresPaymentRepository(await open(relay.url));
      await repository.save(payment, "new");
    });

    /** What is stored is this payment, once, with each of its events. */
    async function expectStored(expected: Payment, version: number): Promise<void> {
      expect(await direct.find(expected.facts.id)).toEqual({ payment: restored(expected.facts), version });
      expect(await direct.events(expected.facts.id)).toHaveLength(expected.facts.eventCount);
    }

    it("the payment store in PostgreSQL over a connection that fails takes one round trip to find a payment and one to save it, however much changed", async () => {
      const capturing = capturingPayment(restored(payment.facts));
      const gone = settled(restored(capturing.facts), { outcome: "authorization_gone", reason: "gone" });
      const before = relay.roundTrips;
      await repository.find(payment.facts.id);
      expect(relay.roundTrips - before).toBe(1);
      const { version } = await repository.save(capturing, 1);
      expect(relay.roundTrips - before).toBe(2);
      await repository.save(gone, version);
      expect(relay.roundTrips - before).toBe(3);
      await expectStored(gone, 3);
    });

    it.each([["request lost"], ["answer lost"]] as const)(
      "acknowledges a save once, and writes it once, when its %s",
      async (accident) => {
        const capturing = capturingPayment(restored(payment.facts));
        relay.lose(accident);
        await expect(repository.save(capturing, 1)).resolves.toMatchObject({ version: 2 });
        await expectStored(capturing, 2);
      },
    );

    it.each([["request lost"], ["answer lost"]] as const)(
      "acknowledges a new payment once when its %s",
      async (accident) => {
        const another = authorizedPayment({ key: "order-1" });
        relay.lose(accident);
        await expect(repository.save(another, "new")).resolves.toMatchObject({ version: 1 });
        await expectStored(another, 1);
      },
    );

    it("the payment store in PostgreSQL over a connection that fails does not take for its own what somebody else wrote while its request was lost", async () => {
      const theirs = capturingPayment(restored(payment.facts));
      await direct.save(theirs, 1);
      relay.lose("request lost");
      await expect(repository.save(capturingPayment(restored(payment.facts)), 1)).rejects.toBeInstanceOf(
        VersionConflictError,
      );
      await expectStored(theirs, 2);
    });

    it("the payment store in PostgreSQL over a connection that fails knows its own save again although somebody has gone on from it", async () => {
      const mine = capturingPayment(restored(payment.facts));
      const goneOn = settled(restored(mine.facts), declines());
      // Both are stored by the time the second try comes.
      await direct.save(mine, 1);
      await direct.save(goneOn, 2);
      relay.lose("answer lost");
      await expect(repository.save(mine, 1)).resolves.toMatchObject({ version: 2 });
      await expectStored(goneOn, 3);
    });

    it("the payment store in PostgreSQL over a connection that fails says that it cannot tell when the second answer is lost as well", async () => {
      relay.lose("answer lost", "answer lost");
      await expect(repository.save(capturingPayment(restored(payment.facts)), 1)).rejects.toBeInstanceOf(
        StoreUnavailableError,
      );
      expect((await direct.find(payment.facts.id))?.version).toBe(2);
    });

    it("the payment store in PostgreSQL over a connection that fails finds a payment although the connection was cut in between", async () => {
      relay.cut();
      expect((await repository.find(payment.facts.id))?.payment.facts.id).toBe(payment.facts.id);
      relay.lose("answer lost");
      expect((await repository.find(payment.facts.id))?.payment.facts.id).toBe(payment.facts.id);
    });

    it("the payment store in PostgreSQL over a connection that fails says that it is unavailable when the server is gone", async () => {
      await relay.close();
      await expect(repository.ping()).rejects.toBeInstanceOf(StoreUnavailableError);
      await expect(repository.save(capturingPayment(restored(payment.facts)), 1)).rejects.toBeInstanceOf(
        StoreUnavailableError,
      );
      closing.splice(0, 1);
    });
  });

  describe("over a connection that falls silent", () => {
    let relay: PostgresRelay;
    let direct: PostgresPaymentRepository;
    const payment = authorizedPayment();

    beforeEach(async () => {
      relay = await relayTo(server.url);
      closing.push(() => relay.close());
      direct = new PostgresPaymentRepository(await open());
    });

    const silences = ["requests", "answers", "everything"] as const;
    const questions: readonly [string, (of: PostgresPaymentRepository) => Promise<unknown>, number][] = [
      ["a read", (of) => of.find(payment.facts.id), READ_MS],
      ["a list", (of) => of.dueOperations(new Date(), 10), LIST_MS],
      ["a save", (of) => of.save(authorizedPayment({ key: "another" }), "new"), SAVE_MS],
    ];

    it.each(silences)("gives up on whatever it asked, in time, when %s are swallowed", async (silence) => {
      const warm = new PostgresPaymentRepository(await open(relay.url));
      await Promise.all(questions.map(() => warm.ping()));
      const cold = new PostgresPaymentRepository(await openUnmigrated(relay.url));
      relay.fallSilent(silence);
      await Promise.all(
        questions.map(async ([what, ask, limitMs]) => {
          for (const { error, tookMs } of await Promise.all([failureOf(ask(warm)), failureOf(ask(cold))])) {
            expect({ what, error }).toMatchObject({ what, error: { name: "StoreUnavailableError" } });
            if (what !== "a save") expect(error).toMatchObject({ outcome: "none" });
            expect(tookMs).toBeLessThan(limitMs + SLACK_MS);
          }
        }),
      );
      relay.speak();
    });

    it("the payment store in PostgreSQL over a connection that falls silent knows of a save that no connection was had for that it is not stored, and of another that nobody knows", async () => {
      const warm = new PostgresPaymentRepository(await open(relay.url));
      const cold = new PostgresPaymentRepository(await openUnmigrated(relay.url));
      await warm.ping();
      relay.fallSilent("answers");
      const [unknown, none] = await Promise.all([
        failureOf(warm.save(payment, "new")),
        failureOf(cold.save(authorizedPayment({ key: "cold" }), "new")),
      ]);
      expect(unknown.error).toMatchObject({ outcome: "unknown" });
      expect(none.error).toMatchObject({ outcome: "none" });
      expect(await direct.find(payment.facts.id)).not.toBeNull();
      relay.speak();
    });

    it("the payment store in PostgreSQL over a connection that falls silent closes in time: idle connections, one being made, and one that is asked", async () => {
      const idle = await open(relay.url);
      const asked = await open(relay.url);
      const made = await openUnmigrated(relay.url);
      relay.fallSilent("everything");
      const asking = [asked, made].map((postgres) =>
        failureOf(new PostgresPaymentRepository(postgres).ping()),
      );
      const begunAt = performance.now();
      await Promise.all([idle, asked, made].map((postgres) => postgres.close()));
      expect(performance.now() - begunAt).toBeLessThan(CLOSE_MS);
      await Promise.all(asking);
      relay.speak();
    });

    it("the payment store in PostgreSQL over a connection that falls silent keeps no connection that is silent: what it gave up on is gone from this process", async () => {
      const postgres = await open(relay.url);
      const repository = new PostgresPaymentRepository(postgres);
      relay.fallSilent("everything");
      await Promise.all([failureOf(repository.ping()), failureOf(repository.ping())]);
      expect(postgres.connections.idle).toBe(0);
      relay.speak();
      await expect(repository.ping()).resolves.toBeUndefined();
    });

    it("the payment store in PostgreSQL over a connection that falls silent does not wait for ever to migrate", async () => {
      const postgres = await openUnmigrated(relay.url);
      for (const silence of silences) {
        relay.fallSilent(silence);
        const { tookMs } = await failureOf(new PostgresMigration(postgres, clock).migrate());
        expect(tookMs).toBeLessThan(CONNECT_MS + GOODBYE_MS + SLACK_MS);
        relay.speak();
      }
    });
  });

  it("the payment store in PostgreSQL goes on when the server has ended every one of its sessions", async () => {
    const lost: unknown[] = [];
    const postgres = await open(server.url, { onConnectionLost: (error) => lost.push(error) });
    const repository = new PostgresPaymentRepository(postgres);
    const payment = authorizedPayment();
    await repository.save(payment, "new");
    const { rowCount } = await (
      await operator()
    ).query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
    );
    expect(rowCount).toBeGreaterThan(0);
    await expect(repository.save(capturingPayment(restored(payment.facts)), 1)).resolves.toMatchObject({
      version: 2,
    });
  });

  it("the payment store in PostgreSQL tries again when the server undoes a save to end a deadlock", async () => {
    const repository = new PostgresPaymentRepository(await open());
    const capturing = capturingPayment();
    await repository.save(capturing, "new");
    const other = await operator();
    // The other waits for longer, so that the deadlock is noticed on our side.
    await other.query("SET deadlock_timeout = '30s'");
    await other.query("BEGIN");
    await other.query("UPDATE operations SET attempts = attempts WHERE kind = 'capture'");
    const captured = settled(restored(capturing.facts), succeeds("cap_1"));
    const saving = repository.save(captured, 1);
    await waitingForALock(await operator(), 1);
    await other.query("UPDATE payments SET updated_at = updated_at");
    await other.query("COMMIT");
    await expect(saving).resolves.toMatchObject({ version: 2 });
    expect((await repository.find(captured.facts.id))?.payment.facts).toEqual(captured.facts);
  }, 20_000);

  it("the payment store in PostgreSQL gives up on a save that somebody else keeps waiting, in time, and with nothing written", async () => {
    const repository = new PostgresPaymentRepository(await open());
    const payment = authorizedPayment();
    await repository.save(payment, "new");
    const other = await operator();
    await other.query("BEGIN");
    await other.query("SELECT 1 FROM payments FOR UPDATE");
    const capturing = capturingPayment(restored(payment.facts));
    const { error, tookMs } = await failureOf(repository.save(capturing, 1));
    expect(error).toMatchObject({ name: "StoreUnavailableError", outcome: "none" });
    expect(tookMs).toBeLessThan(SAVE_MS);
    await other.query("COMMIT");
    expect(await repository.find(payment.facts.id)).toEqual({ payment: restored(payment.facts), version: 1 });
    await expect(repository.save(capturing, 1)).resolves.toMatchObject({ version: 2 });
  });

  it("the payment store in PostgreSQL leaves nothing behind in the server when a client is gone in the middle of its statement", async () => {
    const relay = await relayTo(server.url);
    closing.push(() => relay.close());
    const repository = new PostgresPaymentRepository(await open(relay.url));
    const payment = authorizedPayment();
    await repository.save(payment, "new");
    const other = await operator();
    await other.query("BEGIN");
    await other.query("SELECT 1 FROM payments FOR UPDATE");
    const saving = failureOf(repository.save(capturingPayment(restored(payment.facts)), 1));
    const watcher = await operator();
    await waitingForALock(watcher, 1);
    relay.fallSilent("everything");
    expect((await saving).error).toMatchObject({ outcome: "unknown" });
    await waitingForALock(watcher, 0);
    await other.query("COMMIT");
    relay.speak();
  });

  it("the payment store in PostgreSQL stores words that PostgreSQL's text cannot hold, as near as it can", async () => {
    const repository = new PostgresPaymentRepository(await open());
    const declined = settled(capturingPayment(), declines("half \ud83d of a pair, and \0"));
    const payment = forged(declined, { reference: "a\0b", metadata: { note: "c\0d" } });
    await repository.save(payment, "new");
    const found = (await repository.find(payment.facts.id))?.payment.facts;
    expect(found?.operations[1]?.failureReason).toBe("half \ufffd of a pair, and \ufffd");
    expect(found?.reference).toBe("a\ufffdb");
    expect(found?.metadata).toEqual({ note: "c\0d" });
  });

  it("the payment store in PostgreSQL leaves the driver's own reading of numbers to others in the process", async () => {
    await new PostgresPaymentRepository(await open()).countInReview();
    const parse = types.getTypeParser(20) as (text: string) => unknown;
    expect(parse("1")).toBe("1");
    expect((await (await operator()).query("SELECT 1::bigint AS n")).rows).toEqual([{ n: "1" }]);
  });

  it("the payment store in PostgreSQL shares a few connections among many callers, and says how many", async () => {
    const postgres = await open(server.url, { maxConnections: 3 });
    const repository = new PostgresPaymentRepository(postgres);
    const id = authorizedPayment().facts.operations[0]!.id;
    const questions = Array.from({ length: 60 }, () => repository.findByOperation(id));
    expect(postgres.connections).toMatchObject({ open: 3, waiting: 57, max: 3 });
    await Promise.all(questions);
    expect(postgres.connections).toEqual({ open: 3, idle: 3, waiting: 0, max: 3 });
  });

  describe("when they are migrated", () => {
    const newest = migrations.at(-1)!.version;
    const second: Migration = {
      version: newest + 1,
      name: "a note",
      statements: () => ["CREATE TABLE note (n integer)"],
    };
    const broken: Migration = {
      version: newest + 2,
      name: "half",
      statements: () => ["CREATE TABLE half (n integer)", "junk"],
    };

    function bare(): PostgresDatabase {
      const postgres = new PostgresDatabase(server.url);
      closing.push(() => postgres.close());
      return postgres;
    }
    const migrate = (postgres: PostgresDatabase, known?: readonly Migration[]) =>
      new PostgresMigration(postgres, clock, known).migrate();
    const tables = async (postgres: PostgresDatabase) =>
      (
        await postgres.rows(
          CompiledQuery.raw(
            "SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename IN ('note', 'half')",
          ),
        )
      ).length;

    it("payments in PostgreSQL when they are migrated are migrated once when several instances start together", async () => {
      const reports = await Promise.all(
        [bare(), bare(), bare(), bare()].map((postgres) => migrate(postgres)),
      );
      expect(reports.map(({ from, to }) => `${from}-${to}`).sort()).toEqual([
        `0-${newest}`,
        ...Array<string>(3).fill(`${newest}-${newest}`),
      ]);
    });

    it("go forward from where they are, while another version of the program goes on", async () => {
      const older = await open();
      const repository = new PostgresPaymentRepository(older);
      const payment = authorizedPayment();
      await repository.save(payment, "new");
      await repository.find(payment.facts.id);
      const wider: Migration = {
        version: newest + 1,
        name: "a column more in each table",
        statements: () =>
          ["payments", "operations", "events", "api_keys"].map(
            (table) => `ALTER TABLE ${table} ADD COLUMN more integer`,
          ),
      };
      expect(await migrate(bare(), [...migrations, wider])).toEqual({ from: newest, to: newest + 1 });
      const found = await repository.find(payment.facts.id);
      await expect(repository.save(capturingPayment(found!.payment), 1)).resolves.toMatchObject({
        version: 2,
      });
      expect((await repository.list({ merchant: payment.facts.merchant, limit: 5 })).data).toHaveLength(1);
      expect(await repository.events(payment.facts.id)).not.toEqual([]);
    });

    it("stay at their version, whole, when a step fails", async () => {
      const postgres = await open();
      await expect(migrate(postgres, [...migrations, second, broken])).rejects.toThrow("syntax error");
      expect(await tables(postgres)).toBe(0);
      expect(await migrate(postgres)).toEqual({ from: newest, to: newest });
    });

    it("payments in PostgreSQL when they are migrated are left alone where their schema is newer", async () => {
      const postgres = await open();
      await migrate(postgres, [...migrations, second]);
      await expect(migrate(postgres)).rejects.toMatchObject({
        code: "schema_too_new",
        message: expect.stringMatching(`schema version ${newest + 1}.*versions up to ${newest}`),
      });
      expect(await tables(postgres)).toBe(1);
    });
  });
});

describeWithPostgres("a PostgreSQL database that acknowledges commits too early", (server) => {
  it("a PostgreSQL database that acknowledges commits too early is made to acknowledge ours when they are on the disk", async () => {
    const operator = new Client({ connectionString: server.url });
    await operator.connect();
    await operator.query(
      `ALTER DATABASE ${new URL(server.url).pathname.slice(1)} SET synchronous_commit = off`,
    );
    await operator.end();
    const postgres = new PostgresDatabase(server.url);
    try {
      expect(await postgres.rows(CompiledQuery.raw("SHOW synchronous_commit"))).toEqual([
        { synchronous_commit: "on" },
      ]);
    } finally {
      await postgres.close();
    }
  });
});
