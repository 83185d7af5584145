import { PermanentLeaseStoreError } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { RedisLockProvider } from "../../../../../src/infrastructure/locking/lease/redis/redis-lock-provider";
import { RedisLeaseRecordStore } from "../../../../../src/infrastructure/locking/lease/redis/redis-lease-record-store";
import { LockChild } from "../../../../../src/infrastructure/locking/contract/children/lock-child";
import { QUICK_LEASE } from "../../../../support/servers/gcs-locks";
import {
  caughtUp,
  replicate,
  startOwnRedis,
  startOwnRedisCluster,
  startOwnRedisSentinel,
  tellRedis,
  type OwnCluster,
  type OwnSentinel,
} from "../../../../support/servers/own-redis";
import { describeWithOwn } from "../../../../support/servers/servers";
import { tcpRelayTo, type TcpRelay } from "../../../../support/servers/tcp-relay";
import { typescriptChild } from "../../../../support/children/typescript-child";

jest.setTimeout(120_000);

const closing: (() => unknown)[] = [];
const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

const PREFIX = "test:";
/** Long enough to be renewed after a change of roles. */
const LEASE = { ...QUICK_LEASE, ttlMs: 6_000, marginMs: 2_000 };

function provider(url: string): RedisLockProvider {
  const made = new RedisLockProvider(url, { keyPrefix: PREFIX, lease: LEASE });
  closing.push(() => made.close());
  return made;
}

function records(url: string, requestTimeoutMs = 1_000): RedisLeaseRecordStore {
  const made = new RedisLeaseRecordStore({ url, keyPrefix: PREFIX, requestTimeoutMs });
  closing.push(() => made.close());
  return made;
}

function anotherProcess(url: string): LockChild {
  const child = new LockChild(typescriptChild("redis-lock-child.ts", url, PREFIX), 30_000);
  closing.push(() => child.kill());
  return child;
}

async function relayed(target: string): Promise<TcpRelay> {
  const relay = await tcpRelayTo(target);
  closing.push(() => relay.close());
  return relay;
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describeWithOwn("redis", "leases in two Redis servers behind one address", () => {
  closeAfterEach();

  async function pair(): Promise<{ relay: TcpRelay; changeRoles: () => Promise<void>; oldUrl: string }> {
    const [old, next] = [await startOwnRedis(), await startOwnRedis()];
    closing.push(
      () => old.stop(),
      () => next.stop(),
    );
    await replicate(next, old);
    const relay = await relayed(old.url);
    const changeRoles = async (): Promise<void> => {
      await caughtUp(next, old);
      await tellRedis(next.url, "REPLICAOF", "NO", "ONE");
      relay.moveTo(next.url);
      await replicate(old, next);
    };
    return { relay, changeRoles, oldUrl: old.url };
  }

  it("leases in two Redis servers behind one address are renewed where the address leads after the servers have changed roles, and keep others out", async () => {
    const { relay, changeRoles } = await pair();
    const holder = provider(relay.url);
    const newcomer = anotherProcess(relay.url);
    await holder.withLock("a", async (hold) => {
      await changeRoles();
      // Longer than a lease: only a renewal at the new master can keep it.
      for (let round = 0; round < 10; round += 1) {
        await pause((LEASE.ttlMs + LEASE.marginMs) / 8);
        hold.assertHeld();
        await expect(newcomer.enter("a", 0)).rejects.toMatchObject({ code: "lock_timeout" });
      }
    });
    expect(await newcomer.enter("a")).toBeGreaterThan(0n);
    await newcomer.leave("a");
    expect(await holder.withLock("a", async () => "in", { timeout: 20_000 })).toBe("in");
  });

  it("leases in two Redis servers behind one address are not looked up on a server that was demoted: it only remembers", async () => {
    const { relay, changeRoles } = await pair();
    const store = records(relay.url);
    expect(await store.read("a")).toBeNull();
    await changeRoles();
    await expect(store.read("a")).rejects.toThrow(/READONLY/);
    await pause(300);
    expect(await store.read("a")).toBeNull();
  });

  it("go on at the new address when the old server does not even answer", async () => {
    const { relay } = await pair();
    const elsewhere = await startOwnRedis();
    closing.push(() => elsewhere.stop());
    const store = records(relay.url, 500);
    expect(await store.read("a")).toBeNull();
    relay.silence();
    await expect(store.read("a")).rejects.toThrow(/timed out/);
    // Long enough for a new connection to fall silent, too.
    await pause(1_000);
    relay.moveTo(elsewhere.url);
    relay.drop();
    const beganMs = performance.now();
    while ((await store.read("a").catch(() => "silent")) !== null)
      expect(performance.now() - beganMs).toBeLessThan(15_000);
  });
});

describeWithOwn("redis", "the notices of releases", () => {
  closeAfterEach();
  const woken = (store: RedisLeaseRecordStore): Promise<number> =>
    new Promise((resolve) => {
      const stop = store.onReleased("a", () => {
        stop();
        resolve(performance.now());
      });
    });

  async function arrive(redisUrl: string, store: RedisLeaseRecordStore, withinMs = 3_000): Promise<void> {
    for (const endMs = performance.now() + withinMs; performance.now() < endMs;) {
      const waking = woken(store);
      await tellRedis(redisUrl, "PUBLISH", `${PREFIX}released`, "a");
      if ((await Promise.race([waking, pause(500)])) !== undefined) return;
    }
    throw new Error("no notice arrives");
  }

  it("arrive although Redis was down for long when somebody first waited", async () => {
    const redis = await startOwnRedis();
    closing.push(() => redis.stop());
    await redis.kill();
    const store = records(redis.url);
    const stop = store.onReleased("a", () => {});
    // Longer than the attempts to connect that a client gives to one request.
    await pause(12_000);
    stop();
    await redis.restart();
    await arrive(redis.url, store);
  });

  it("arrive again after a restart, and after a connection that had died unnoticed", async () => {
    const redis = await startOwnRedis();
    closing.push(() => redis.stop());
    const relay = await relayed(redis.url);
    const store = records(relay.url);
    await arrive(redis.url, store);
    await redis.restart();
    await arrive(redis.url, store);
    relay.silence();
    const stop = store.onReleased("a", () => {});
    await pause(11_000);
    relay.drop();
    stop();
    await arrive(redis.url, store, 10_000);
  });
});

describeWithOwn("redis", "leases in a Redis Cluster", () => {
  closeAfterEach();
  let cluster: OwnCluster;
  beforeAll(async () => {
    cluster = await startOwnRedisCluster();
  });
  afterAll(() => cluster.stop());

  it("exclude on every node, tell of releases, are listed, and outlive a failover", async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `payment:${n}`);
    const [mine, theirs] = [provider(cluster.url), anotherProcess(cluster.url)];
    const letGo: (() => void)[] = [];
    const sections = ids.map((id) => {
      const held = new Promise<void>((resolve) => letGo.push(resolve));
      return new Promise<{ done: Promise<void>; assertHeld: () => void }>((resolve, reject) => {
        const done: Promise<void> = mine.withLock(id, (hold) => {
          resolve({ done, assertHeld: () => hold.assertHeld() });
          return held;
        });
        done.catch(reject);
      });
    });
    const inside = await Promise.all(sections);
    for (const id of ids) await expect(theirs.enter(id, 0)).rejects.toMatchObject({ code: "lock_timeout" });
    const listed: string[] = [];
    for await (const id of mine.records.resourceIds()) listed.push(id);
    expect(listed.sort()).toEqual([...ids].sort());

    await cluster.failOver();
    await pause(LEASE.ttlMs + LEASE.marginMs);
    for (const { assertHeld } of inside) assertHeld();
    for (const id of ids) await expect(theirs.enter(id, 0)).rejects.toMatchObject({ code: "lock_timeout" });

    const entering = ids.map((id) => theirs.enter(id));
    await pause(1_500);
    const letGoMs = performance.now();
    for (const go of letGo) go();
    await Promise.all(entering);
    expect(performance.now() - letGoMs).toBeLessThan(1_500);
    await Promise.all(inside.map(({ done }) => done));
  });

  it("leases in a Redis Cluster are refused in words under a URL that says nothing of a cluster, and the other way round", async () => {
    for (const node of cluster.nodes) {
      const store = records(node.url);
      await expect(store.probe()).rejects.toThrow(/a Redis Cluster: its URL begins with redis\+cluster/);
      await expect(store.read("a")).rejects.toBeInstanceOf(PermanentLeaseStoreError);
    }
    const single = await startOwnRedis();
    closing.push(() => single.stop());
    const misled = records(single.url.replace("redis://", "redis+cluster://"));
    await expect(misled.probe()).rejects.toThrow(/without cluster: its URL begins with redis:/);
  });
});

describeWithOwn("redis", "leases in a Redis that sentinels watch", () => {
  closeAfterEach();
  let sentinel: OwnSentinel;
  beforeAll(async () => {
    sentinel = await startOwnRedisSentinel();
  });
  afterAll(() => sentinel.stop());

  it("follow the master that the sentinels name", async () => {
    const [mine, theirs] = [provider(sentinel.url), anotherProcess(sentinel.url)];
    await mine.withLock("a", async (hold) => {
      await expect(theirs.enter("a", 0)).rejects.toMatchObject({ code: "lock_timeout" });
      await sentinel.failOver();
      await pause(LEASE.ttlMs + LEASE.marginMs);
      hold.assertHeld();
      await expect(theirs.enter("a", 0)).rejects.toMatchObject({ code: "lock_timeout" });
    });
    await theirs.enter("a");
    await theirs.leave("a");
    expect(await mine.withLock("a", async () => "in", { timeout: 20_000 })).toBe("in");
  });

  it("leases in a Redis that sentinels watch are refused in words under the URL of a sentinel", async () => {
    await expect(records(sentinel.itself).probe()).rejects.toThrow(
      /this is a sentinel: its URL begins with redis\+sentinel/,
    );
  });
});
