import { recordVersion } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { neverHeld } from "../../../../../src/infrastructure/locking/lease/protocol/lease-transitions";
import { PostgresLeaseRecordStore } from "../../../../../src/infrastructure/locking/lease/postgres/postgres-lease-record-store";
import { PostgresDatabase } from "../../../../../src/infrastructure/persistence/postgres/postgres-database";
import { CompiledQuery } from "kysely";
import { query } from "../../../../support/servers/postgres-locks";
import { describeWithPostgres } from "../../../../support/servers/servers";
import { tcpRelayTo, type TcpRelay } from "../../../../support/servers/tcp-relay";

jest.setTimeout(60_000);

const closing: (() => Promise<unknown>)[] = [];
const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });
const CLOSE_WITHIN_MS = 5_000;
/** For a busy machine. */
const LATE_MS = 500;

async function relayed(url: string): Promise<TcpRelay> {
  const relay = await tcpRelayTo(url);
  closing.push(() => relay.close());
  return relay;
}

async function closesInTime(what: { close(): Promise<void> }): Promise<void> {
  const beganMs = performance.now();
  await what.close();
  expect(performance.now() - beganMs).toBeLessThan(CLOSE_WITHIN_MS + LATE_MS);
}

describeWithPostgres("a PostgreSQL that no longer answers", (server) => {
  closeAfterEach();
  it("a PostgreSQL that no longer answers does not keep a record store from closing, nor one that listens or is asking", async () => {
    const relay = await relayed(server.url);
    const records = new PostgresLeaseRecordStore({ url: relay.url });
    await records.probe();
    records.onReleased("a", () => {});
    await new Promise((resolve) => setTimeout(resolve, 500));
    relay.silence();
    const asking = records.read("a").catch(() => {});
    await closesInTime(records);
    await asking;
  });

  it("a PostgreSQL that no longer answers does not keep a store's pool from closing", async () => {
    const relay = await relayed(server.url);
    const database = new PostgresDatabase(relay.url);
    await database.rows(CompiledQuery.raw("SELECT 1"));
    relay.silence();
    await closesInTime(database);
  });

  it("a PostgreSQL that no longer answers is noticed by those who listen for releases, although nothing is released", async () => {
    const relay = await relayed(server.url);
    const records = new PostgresLeaseRecordStore({ url: relay.url });
    closing.push(() => records.close());
    await records.probe();
    let woken = 0;
    records.onReleased("a", () => (woken += 1));
    await new Promise((resolve) => setTimeout(resolve, 500));
    relay.silence();
    relay.drop();
    const other = new PostgresLeaseRecordStore({ url: server.url });
    closing.push(() => other.close());
    let version: Awaited<ReturnType<typeof other.write>> | "absent" = "absent";
    for (let tries = 0; tries < 60 && woken === 0; tries += 1) {
      version = await other.write("a", neverHeld(1_000), version as "absent");
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
    expect(woken).toBeGreaterThan(0);
  });
});

describeWithPostgres("a PostgreSQL where every transaction is serializable", (server) => {
  closeAfterEach();
  beforeEach(async () => {
    const name = new URL(server.url).pathname.slice(1);
    await query(server.url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
  });

  it("a PostgreSQL where every transaction is serializable is asked for what is committed, by payments and leases alike", async () => {
    const database = new PostgresDatabase(server.url);
    closing.push(() => database.close());
    expect(await database.rows(CompiledQuery.raw("SHOW transaction_isolation"))).toEqual([
      { transaction_isolation: "read committed" },
    ]);
  });

  it("a PostgreSQL where every transaction is serializable tells those who lose a race for a record that they did, and not that it failed", async () => {
    const records = new PostgresLeaseRecordStore({ url: server.url, maxConnections: 8 });
    closing.push(() => records.close());
    let version = await records.write("a", neverHeld(1_000), "absent");
    for (let round = 0; round < 30; round += 1) {
      const expected = recordVersion(String(version));
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => records.write("a", neverHeld(1_000), expected)),
      );
      const won = answers.filter((answer) => answer !== "conflict");
      expect(won).toHaveLength(1);
      version = won[0]!;
    }
  });
});
