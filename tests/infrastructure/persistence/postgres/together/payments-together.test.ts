import { Client } from "pg";
import { restored } from "../../../../../src/domain/payment/restored";
import {
  DuplicateKeyError,
  VersionConflictError,
  type StoredPayment,
} from "../../../../../src/application/ports/payment-repository";
import type { Payment } from "../../../../../src/domain/payment/payment";
import { PostgresDatabase } from "../../../../../src/infrastructure/persistence/postgres/postgres-database";
import { PostgresPaymentRepository } from "../../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { MOST_TOGETHER } from "../../../../../src/infrastructure/persistence/postgres/together/most-together";
import { migratedPostgres } from "../../../../support/servers/migrated-postgres";
import { relayTo, type PostgresRelay } from "../../../../support/servers/postgres-relay";
import { describeWithPostgres } from "../../../../support/servers/servers";
import { authorizedPayment, capturingPayment, settled, succeeds } from "../../../../support/worlds/payments";

jest.setTimeout(30_000);

describeWithPostgres("payments that are written in one round of the event loop", (server) => {
  let relay: PostgresRelay;
  let direct: PostgresPaymentRepository;
  let repository: PostgresPaymentRepository;
  let postgres: PostgresDatabase;
  let operator: Client;
  let closing: (() => Promise<unknown>)[];
  let payments: readonly Payment[];

  beforeEach(async () => {
    const straight = await migratedPostgres(server.url);
    relay = await relayTo(server.url);
    postgres = new PostgresDatabase(relay.url);
    operator = new Client({ connectionString: server.url });
    await operator.connect();
    closing = [() => postgres.close(), () => relay.close(), () => operator.end(), () => straight.close()];
    direct = new PostgresPaymentRepository(straight);
    repository = new PostgresPaymentRepository(postgres);
    payments = [1, 2, 3, 4].map((n) => authorizedPayment({ key: `order-${n}` }));
    for (const payment of payments) await direct.save(payment, "new");
    // Connections are set up, and what follows is counted.
    await repository.find(payments[0]!.facts.id);
  });
  afterEach(async () => {
    relay.speak();
    for (const close of closing) await close();
  });

  const capturing = (): readonly Payment[] => payments.map(({ facts }) => capturingPayment(restored(facts)));
  const saveAll = (
    changed: readonly Payment[],
    version = 1,
  ): Promise<PromiseSettledResult<StoredPayment>[]> =>
    Promise.allSettled(changed.map((payment) => repository.save(payment, version)));

  /** What is stored is this payment, once, with each of its events once. */
  async function expectStored(expected: Payment, version: number): Promise<void> {
    const { id, eventCount } = expected.facts;
    expect(await direct.find(id)).toEqual({ payment: restored(expected.facts), version });
    const events = (await direct.events(id)) ?? [];
    expect(events.map(({ sequence }) => sequence)).toEqual(
      Array.from({ length: eventCount }, (_, i) => i + 1),
    );
  }

  const outcomes = (results: readonly PromiseSettledResult<unknown>[]): readonly string[] =>
    results.map((result) =>
      result.status === "fulfilled" ? "written" : (result.reason as Error).constructor.name,
    );

  it("payments that come together are written, and found, in one round trip", async () => {
    const changed = capturing();
    const before = relay.roundTrips;
    expect(outcomes(await saveAll(changed))).toEqual(changed.map(() => "written"));
    expect(relay.roundTrips - before).toBe(1);
    const found = await Promise.all(changed.map(({ facts }) => repository.find(facts.id)));
    expect(relay.roundTrips - before).toBe(2);
    expect(found).toEqual(changed.map(({ facts }) => ({ payment: restored(facts), version: 2 })));
    for (const payment of changed) await expectStored(payment, 2);
  });

  it("a payment that is not there is missing for the one who asked for it, and found are the others", async () => {
    const unknown = authorizedPayment().facts.id;
    const found = await Promise.all([payments[0]!.facts.id, unknown].map((id) => repository.find(id)));
    expect(found.map((one) => one?.payment.facts.id ?? null)).toEqual([payments[0]!.facts.id, null]);
  });

  it("more than go together are several statements, and each of them is written", async () => {
    const many = Array.from({ length: MOST_TOGETHER + 1 }, (_, n) => authorizedPayment({ key: `many-${n}` }));
    const results = await Promise.allSettled(many.map((payment) => repository.save(payment, "new")));
    expect(outcomes(results)).toEqual(many.map(() => "written"));
    for (const payment of many) await expectStored(payment, 1);
  });

  it("a payment that has changed since is refused, and its neighbours are written", async () => {
    const changed = capturing();
    const theirs = capturingPayment(restored(payments[1]!.facts));
    await direct.save(theirs, 1);
    const results = await saveAll(changed);
    expect(outcomes(results)).toEqual(["written", "VersionConflictError", "written", "written"]);
    await expectStored(theirs, 2);
    for (const n of [0, 2, 3]) await expectStored(changed[n]!, 2);
  });

  it("of two changes of one payment in one round, one is written with its events, and the other conflicts", async () => {
    const [payment] = payments;
    const two = [1, 2].map(() => capturingPayment(restored(payment!.facts)));
    const results = await saveAll(two);
    expect(outcomes(results).toSorted()).toEqual(["VersionConflictError", "written"]);
    const winner = two[results.findIndex(({ status }) => status === "fulfilled")];
    await expectStored(winner!, 2);
  });

  describe("where the schema guards nothing", () => {
    beforeEach(async () => {
      await operator.query(
        "DROP INDEX one_open_operation; DROP INDEX one_event_per_sequence; DROP INDEX one_operation_per_key",
      );
    });

    it("where the schema guards nothing, a payment that has changed since is still refused within its group", async () => {
      const changed = capturing();
      const theirs = capturingPayment(restored(payments[1]!.facts));
      await direct.save(theirs, 1);
      const results = await saveAll(changed);
      expect(outcomes(results)).toEqual(["written", "VersionConflictError", "written", "written"]);
      await expectStored(theirs, 2);
    });

    it("where the schema guards nothing, of two changes of one payment in one round, only one leaves its events", async () => {
      const two = [1, 2].map(() => capturingPayment(restored(payments[0]!.facts)));
      const results = await saveAll(two);
      expect(outcomes(results).toSorted()).toEqual(["VersionConflictError", "written"]);
      await expectStored(two[results.findIndex(({ status }) => status === "fulfilled")]!, 2);
    });
  });

  it("a new payment whose key is taken is refused as such, and its neighbours are written", async () => {
    const fresh = ["new-1", "order-1", "new-2"].map((key) => authorizedPayment({ key }));
    const results = await Promise.allSettled(fresh.map((payment) => repository.save(payment, "new")));
    expect(outcomes(results)).toEqual(["written", "DuplicateKeyError", "written"]);
    expect((results[1] as PromiseRejectedResult).reason).toBeInstanceOf(DuplicateKeyError);
    await expectStored(fresh[0]!, 1);
    await expectStored(fresh[2]!, 1);
    expect(await direct.find(fresh[1]!.facts.id)).toBeNull();
  });

  it("a settlement that the schema refuses is refused alone: no payment is captured twice", async () => {
    const changed = capturing();
    await saveAll(changed);
    await operator.query(`
      CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'no' USING ERRCODE = 'check_violation'; END $$;
      CREATE TRIGGER refuse BEFORE UPDATE ON payments FOR EACH ROW
        WHEN (OLD.id = '${changed[2]!.facts.id}') EXECUTE FUNCTION refuse()`);
    const captured = changed.map(({ facts }) => settled(restored(facts), succeeds(`cap-${facts.id}`)));
    const results = await saveAll(captured, 2);
    expect(outcomes(results)).toEqual(["written", "written", "VersionConflictError", "written"]);
    expect((results[2] as PromiseRejectedResult).reason).toBeInstanceOf(VersionConflictError);
    for (const n of [0, 1, 3]) await expectStored(captured[n]!, 3);
    await expectStored(changed[2]!, 2);
  });

  it.each([["request lost"], ["answer lost"]] as const)(
    "a group whose connection dies (%s) is acknowledged to each, and written once",
    async (accident) => {
      const changed = capturing();
      relay.lose(accident);
      expect(outcomes(await saveAll(changed))).toEqual(changed.map(() => "written"));
      for (const payment of changed) await expectStored(payment, 2);
    },
  );

  it("a group whose connection dies after its commit does not hide that somebody else had been faster at one of them", async () => {
    const changed = capturing();
    const theirs = capturingPayment(restored(payments[3]!.facts));
    await direct.save(theirs, 1);
    relay.lose("answer lost");
    expect(outcomes(await saveAll(changed))).toEqual([
      "written",
      "written",
      "written",
      "VersionConflictError",
    ]);
    await expectStored(theirs, 2);
  });

  it("a group whose session is ended by the server while it works is written once", async () => {
    const changed = capturing();
    await operator.query("BEGIN");
    await operator.query("LOCK TABLE events IN SHARE MODE");
    const saving = saveAll(changed);
    await endTheWaiting(server.url);
    await operator.query("COMMIT");
    expect(outcomes(await saving)).toEqual(changed.map(() => "written"));
    for (const payment of changed) await expectStored(payment, 2);
  });

  it("a payment that somebody keeps locked is told so in time, and its neighbours are written without waiting for it", async () => {
    const changed = capturing();
    await operator.query("BEGIN");
    await operator.query("SELECT 1 FROM payments WHERE id = $1 FOR UPDATE", [payments[0]!.facts.id]);
    const [blocked, ...neighbours] = changed.map((payment) => repository.save(payment, 1));
    const first = await Promise.race([blocked!.catch(() => "the blocked one"), Promise.all(neighbours)]);
    expect(first).toHaveLength(3);
    const results = await Promise.allSettled([blocked, ...neighbours]);
    await operator.query("COMMIT");
    expect(outcomes(results)).toEqual(["StoreUnavailableError", "written", "written", "written"]);
    expect((results[0] as PromiseRejectedResult).reason).toMatchObject({ outcome: "none" });
    await expectStored(payments[0]!, 1);
    for (const n of [1, 2, 3]) await expectStored(changed[n]!, 2);
  });

  it("a save that is tried again after its group's answers were all lost doubles nothing", async () => {
    const changed = capturing();
    // The group's answer, and those of everything that asks about it.
    relay.lose(...Array.from({ length: 40 }, () => "answer lost" as const));
    const results = await saveAll(changed);
    relay.lose();
    for (const result of results)
      expect((result as PromiseRejectedResult).reason).toMatchObject({ outcome: "unknown" });
    expect(outcomes(await saveAll(changed))).toEqual(changed.map(() => "VersionConflictError"));
    for (const payment of changed) await expectStored(payment, 2);
  });
});

/** Ends the sessions that wait for somebody else. */
async function endTheWaiting(url: string): Promise<void> {
  const watcher = new Client({ connectionString: url });
  await watcher.connect();
  try {
    for (let ended = 0; ended === 0;) {
      const { rowCount } = await watcher.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE wait_event_type = 'Lock' AND datname = current_database()`,
      );
      ended = rowCount ?? 0;
    }
  } finally {
    await watcher.end();
  }
}
