import { systemLeaseEnvironment } from "../../../../src/infrastructure/locking/lease/protocol/lease-environment";
import { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import type { LeaseRecordStore } from "../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { MemoryLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/memory/memory-lease-record-store";
import { PostgresLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/postgres/postgres-lease-record-store";
import { RedisLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/redis/redis-lease-record-store";
import { systemLockClock } from "../../../../src/infrastructure/locking/lock-clock";
import { QUICK_LEASE } from "../../../support/servers/gcs-locks";
import { nextMillisecond } from "../../../support/next-millisecond";
import { describeWithPostgres, describeWithRedis } from "../../../support/servers/servers";

const AN_HOUR_MS = 3_600_000;
const closing: (() => Promise<unknown> | void)[] = [];
const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

/** A process whose wall clock is off by that much. */
function processOn(records: LeaseRecordStore, skewMs: number): LeaseLockProvider {
  const clock = { ...systemLockClock, wallMs: () => Date.now() + skewMs };
  const environment = { ...systemLeaseEnvironment, clock };
  const locks = new LeaseLockProvider(records, { environment, lease: QUICK_LEASE });
  closing.push(() => locks.close());
  return locks;
}

/** Resolves when the release is confirmed, too. */
async function tokenFrom(locks: LeaseLockProvider): Promise<bigint> {
  const token = await locks.withLock("a", async ({ fencingToken }) => fencingToken);
  while (locks.size > 0) await new Promise((resolve) => setImmediate(resolve));
  return token;
}

async function lose(records: LeaseRecordStore): Promise<void> {
  const found = await records.read("a");
  await records.remove("a", found!.version);
  await nextMillisecond();
}

async function growsWhateverTheClocks(records: LeaseRecordStore): Promise<void> {
  const [ahead, behind] = [processOn(records, AN_HOUR_MS), processOn(records, -AN_HOUR_MS)];
  const first = await tokenFrom(ahead);
  await lose(records);
  expect(await tokenFrom(behind)).toBeGreaterThan(first);
}

describeWithRedis("the fence over a lost record in Redis", (server) => {
  closeAfterEach();
  it("the fence over a lost record in Redis is by the server's clock, whatever those of the processes say", async () => {
    const records = new RedisLeaseRecordStore(server);
    closing.push(() => records.close());
    await growsWhateverTheClocks(records);
  });
});

describeWithPostgres("the fence over a lost record in PostgreSQL", (server) => {
  closeAfterEach();
  it("the fence over a lost record in PostgreSQL is by the server's clock, whatever those of the processes say", async () => {
    const records = new PostgresLeaseRecordStore({ url: server.url });
    closing.push(() => records.close());
    await growsWhateverTheClocks(records);
  });
});

describe("the fence over a lost record in a store without a clock", () => {
  closeAfterEach();
  it("the fence over a lost record in a store without a clock does not fall below what the process has seen", async () => {
    const records = new MemoryLeaseRecordStore();
    const behind = processOn(records, -AN_HOUR_MS);
    const first = await tokenFrom(processOn(records, AN_HOUR_MS));
    expect(await tokenFrom(behind)).toBeGreaterThan(first);
    await lose(records);
    expect(await tokenFrom(behind)).toBeGreaterThan(first);
  });
});
