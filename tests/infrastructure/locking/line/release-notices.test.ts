import type { LockProvider } from "../../../../src/application/ports/lock-provider";
import type { LockEvent } from "../../../../src/application/ports/lock-observer";
import { LeaseLockProvider } from "../../../../src/infrastructure/locking/lease/lease-lock-provider";
import { PostgresLeaseRecordStore } from "../../../../src/infrastructure/locking/lease/postgres/postgres-lease-record-store";
import { RedisLockProvider } from "../../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { systemLockClock, type LockClock } from "../../../../src/infrastructure/locking/lock-clock";
import { PostgresLockProvider } from "../../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { describeWithPostgres, describeWithRedis } from "../../../support/servers/servers";

jest.setTimeout(60_000);

/** Sleeps of the acquire loop from here on last for ever: only a notice ends them. */
const FOR_EVER_FROM_MS = 200;
/** By then the loop, which doubles its sleeps from 10 ms, is in such a one. */
const SLEEPING_AFTER_ATTEMPT = 7;

const neverWakesByItself: LockClock = {
  ...systemLockClock,
  after: (ms, callback) => (ms >= FOR_EVER_FROM_MS ? () => {} : systemLockClock.after(ms, callback)),
};

async function expectWokenByRelease(holder: LockProvider, waiter: LockProvider): Promise<void> {
  let letGo!: () => void;
  const toldToLeave = new Promise<void>((resolve) => (letGo = resolve));
  let isInside!: () => void;
  const inside = new Promise<void>((resolve) => (isInside = resolve));
  const held = holder.withLock("a", () => {
    isInside();
    return toldToLeave;
  });
  await inside;
  const notify = (event: LockEvent): void => {
    if (event.type === "retried" && event.attempt >= SLEEPING_AFTER_ATTEMPT - 1) letGo();
  };
  const waited = waiter.withLock("a", async () => "woken", { timeout: "infinite", observer: { notify } });
  expect(await waited).toBe("woken");
  await held;
}

describeWithPostgres("a waiter on PostgreSQL", (server) => {
  it("a waiter on PostgreSQL is woken by the release of a session's lock", async () => {
    const holder = new PostgresLockProvider(server.url);
    const waiter = new PostgresLockProvider(server.url, { clock: neverWakesByItself });
    await expectWokenByRelease(holder, waiter);
    await Promise.all([holder.close(), waiter.close()]);
  });

  it("a waiter on PostgreSQL is woken by the release of a lease", async () => {
    const records = [1, 2].map(() => new PostgresLeaseRecordStore({ url: server.url }));
    const holder = new LeaseLockProvider(records[0]!);
    const waiter = new LeaseLockProvider(records[1]!, { clock: neverWakesByItself });
    await expectWokenByRelease(holder, waiter);
    await Promise.all([holder.close(), waiter.close()]);
    await Promise.all(records.map((each) => each.close()));
  });
});

describeWithRedis("a waiter on Redis", (server) => {
  it("a waiter on Redis is woken by the release of a lease", async () => {
    const { url, keyPrefix } = server;
    const holder = new RedisLockProvider(url, { keyPrefix });
    const waiter = new RedisLockProvider(url, { keyPrefix, clock: neverWakesByItself });
    await expectWokenByRelease(holder, waiter);
    await Promise.all([holder.close(), waiter.close()]);
  });
});
