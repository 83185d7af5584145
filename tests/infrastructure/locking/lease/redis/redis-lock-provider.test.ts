import { Redis } from "ioredis";
import { LockLostError, LockUnavailableError } from "../../../../../src/application/ports/lock-errors";
import { RedisLockProvider } from "../../../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { RedisLeaseRecordStore } from "../../../../../src/infrastructure/locking/lease/redis/redis-lease-record-store";
import {
  PermanentLeaseStoreError,
  TransientLeaseStoreError,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { QUICK_LEASE } from "../../../../support/servers/gcs-locks";
import { startOwnRedis, type OwnServer } from "../../../../support/servers/own-redis";
import { describeWithOwn, describeWithRedis } from "../../../../support/servers/servers";

jest.setTimeout(60_000);

const closing: (() => unknown)[] = [];
const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

function provider(url: string, keyPrefix = "test:"): RedisLockProvider {
  const made = new RedisLockProvider(url, { keyPrefix, lease: QUICK_LEASE });
  closing.push(() => made.close());
  return made;
}

const nothing = async (): Promise<void> => {};

describeWithRedis("leases in Redis", (server) => {
  closeAfterEach();
  it("tell those who wait of a release, over a connection that is made for the first of them", async () => {
    const { url, keyPrefix } = server;
    const records = new RedisLeaseRecordStore({ url, keyPrefix });
    closing.push(() => records.close());
    let awake!: () => void;
    const woken = new Promise<void>((resolve) => (awake = resolve));
    const stop = records.onReleased("a", awake);
    const admin = new Redis(url);
    closing.push(() => admin.disconnect());
    const channel = `${keyPrefix}released`;
    while (((await admin.pubsub("NUMSUB", channel)) as [string, number])[1] === 0) await nothing();
    await provider(url, keyPrefix).withLock("a", nothing);
    await woken;
    stop();
  });

  it("leases in Redis do not open a connection again that was closed", async () => {
    const records = new RedisLeaseRecordStore(server);
    await records.probe();
    records.close();
    await expect(records.read("a")).rejects.toThrow(/closed/);
  });

  it("keep no time to live: a record that expired would forget its fence", async () => {
    const { url, keyPrefix } = server;
    await provider(url, keyPrefix).withLock("a", nothing);
    const admin = new Redis(url);
    closing.push(() => admin.disconnect());
    expect(await admin.ttl(`${keyPrefix}a`)).toBe(-1);
  });
});

describeWithOwn("redis", "leases in a Redis that fails", () => {
  closeAfterEach();
  let redis: OwnServer;
  beforeEach(async () => {
    redis = await startOwnRedis({ durable: true });
    closing.push(() => redis.stop());
  });

  it("leases in a Redis that fails are lost at the end of their lease when Redis stops answering, and lent again when it goes on", async () => {
    const locks = provider(redis.url);
    await locks.withLock("a", async (hold) => {
      redis.pause();
      await new Promise((resolve) => hold.signal.addEventListener("abort", resolve));
      expect(() => hold.assertHeld()).toThrow(LockLostError);
      await expect(provider(redis.url).withLock("b", nothing, { timeout: 500 })).rejects.toThrow(
        LockUnavailableError,
      );
    });
    redis.continue();
    expect(await locks.withLock("a", async () => "in", { timeout: 30_000 })).toBe("in");
  });

  it("outlive a restart of a Redis that keeps its data, and their fence goes on", async () => {
    const locks = provider(redis.url);
    const other = provider(redis.url);
    let fence = 0n;
    await locks.withLock("a", async (hold) => {
      fence = hold.fencingToken;
      await redis.restart();
      hold.assertHeld();
      await expect(other.withLock("a", nothing, { timeout: 1_000 })).rejects.toThrow();
    });
    expect(await other.withLock("a", async (hold) => hold.fencingToken, { timeout: 30_000 })).toBeGreaterThan(
      fence,
    );
  });

  it("leases in a Redis that fails are unavailable while nothing listens, and the answer comes within the request's limit", async () => {
    await redis.kill();
    const records = new RedisLeaseRecordStore({ url: redis.url, requestTimeoutMs: 300 });
    closing.push(() => records.close());
    await expect(records.read("a")).rejects.toBeInstanceOf(TransientLeaseStoreError);
    await redis.restart();
    expect(await records.read("a")).toBeNull();
  });

  it("leases in a Redis that fails are refused for good where the password is wrong", async () => {
    const admin = new Redis(redis.url);
    await admin.config("SET", "requirepass", "right");
    admin.disconnect();
    const url = redis.url.replace("redis://", "redis://:wrong@");
    const records = new RedisLeaseRecordStore({ url, requestTimeoutMs: 300 });
    closing.push(() => records.close());
    await expect(records.read("a")).rejects.toBeInstanceOf(PermanentLeaseStoreError);
    const reset = new Redis(redis.url.replace("redis://", "redis://:right@"));
    await reset.config("SET", "requirepass", "");
    reset.disconnect();
  });
});
