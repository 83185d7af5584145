import type { PaymentId } from "../../src/domain/identifiers";
import { PostgresLockProvider } from "../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { PostgresPaymentRepository } from "../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { migratedPostgres } from "../support/servers/migrated-postgres";
import { PaymentsWorld } from "../support/worlds/payments-world";
import { relayTo, type PostgresRelay } from "../support/servers/postgres-relay";
import { describeWithPostgres } from "../support/servers/servers";

jest.setTimeout(30_000);

// What docs/operations.md says about round trips is counted here.
describeWithPostgres("round trips of a capture on PostgreSQL, with locks in PostgreSQL", (server) => {
  let store: PostgresRelay;
  let locks: PostgresRelay;
  let world: PaymentsWorld;
  let provider: PostgresLockProvider;
  let close: () => Promise<void>;

  beforeEach(async () => {
    store = await relayTo(server.url);
    locks = await relayTo(server.url);
    // One connection, so that none is made on the way; no heartbeat but the ones that requests are.
    const database = await migratedPostgres(store.url, { maxConnections: 1 });
    provider = new PostgresLockProvider(locks.url, { heartbeatMs: 10_000 });
    world = new PaymentsWorld({ locks: provider, payments: new PostgresPaymentRepository(database) });
    close = async () => {
      await provider.close();
      await database.close();
      await store.close();
      await locks.close();
    };
  });
  afterEach(() => close());

  /** Waits for what goes on behind the answer: the lock is given back after it. */
  async function counted(work: () => Promise<unknown>): Promise<{ store: number; locks: number }> {
    const before = { store: store.roundTrips, locks: locks.roundTrips };
    await work();
    while (provider.size > 0) await new Promise((resolve) => setImmediate(resolve));
    return { store: store.roundTrips - before.store, locks: locks.roundTrips - before.locks };
  }

  async function authorized(): Promise<PaymentId> {
    let id: PaymentId | undefined;
    await counted(async () => (id = await world.authorize()));
    return id!;
  }

  it("round trips of a capture on PostgreSQL, with locks in PostgreSQL are one look, an intent and a settlement, a lock and its return, where nobody was waited for", async () => {
    const id = await authorized();
    expect(await counted(() => world.capture(id, "k"))).toEqual({ store: 3, locks: 2 });
  });

  it("round trips of a capture on PostgreSQL, with locks in PostgreSQL are one look for the replay of a finished key, and no lock", async () => {
    const id = await authorized();
    await counted(() => world.capture(id, "k"));
    expect(await counted(() => world.capture(id, "k"))).toEqual({ store: 1, locks: 0 });
  });

  it("round trips of a capture on PostgreSQL, with locks in PostgreSQL are two looks, a lock and its return for another key of a captured payment", async () => {
    const id = await authorized();
    await counted(() => world.capture(id, "k"));
    expect(await counted(() => world.capture(id, "other").catch(() => {}))).toEqual({ store: 2, locks: 2 });
  });
});
