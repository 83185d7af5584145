import { Cluster, Redis } from "ioredis";
import { LockUnavailableError, RedisLockProvider, type IoRedisClient } from "../../../../src/locks";
import { QUICK_LEASE } from "../../../support/servers/gcs-locks";
import {
  startOwnRedis,
  startOwnRedisCluster,
  startOwnRedisSentinel,
  tellRedis,
} from "../../../support/servers/own-redis";
import { describeWithOwn } from "../../../support/servers/servers";

jest.setTimeout(90_000);

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
/** Long enough to be renewed after a change of roles. */
const LEASE = { ...QUICK_LEASE, ttlMs: 3_000 };

function provider(where: string | IoRedisClient): RedisLockProvider {
  const made = new RedisLockProvider(where, { lease: LEASE });
  closing.push(() => made.close());
  return made;
}

function brought<Client extends Redis | Cluster>(client: Client): Client {
  client.on("error", () => {});
  closing.push(() => client.disconnect());
  return client;
}

async function namesOf(url: string): Promise<string[]> {
  const clients = String(await tellRedis(url, "CLIENT", "LIST"));
  return [...clients.matchAll(/ name=(\S+) /g)].map(([, name]) => name!);
}

test("what is neither a URL nor a client of ioredis is refused in words", () => {
  const ofAnotherLibrary = { duplicate: () => ({}), options: {}, sendCommand: () => {} };
  for (const where of [undefined, null, {}, ofAnotherLibrary])
    expect(() => new RedisLockProvider(where as never)).toThrow(
      /^locks in Redis need a URL, or a client of ioredis \(a Redis or a Cluster\)$/,
    );
});

describeWithOwn("redis", "a client of ioredis that is brought along", () => {
  it("excludes whoever comes by the URL, however comfortably the client is configured", async () => {
    const server = await startOwnRedis();
    closing.push(() => server.stop());
    const client = brought(
      new Redis(server.url, {
        keyPrefix: "app:",
        stringNumbers: true,
        enableAutoPipelining: true,
        readOnly: false,
        maxRetriesPerRequest: null,
      }),
    );
    const [byClient, byUrl] = [provider(client), provider(server.url)];
    let release!: () => void;
    const inside = new Promise<void>((resolve) => (release = resolve));
    const first = byClient.withLock("a", () => inside);
    await pause(200);
    await expect(byUrl.withLock("a", () => "in", { timeout: 0 })).rejects.toMatchObject({
      code: "lock_timeout",
    });
    const second = byUrl.withLock("a", ({ fencingToken }) => fencingToken, { timeout: 10_000 });
    await pause(200);
    release();
    await first;
    const fence = await second;
    expect(await byClient.withLock("a", ({ fencingToken }) => fencingToken)).toBeGreaterThan(fence);
    const ids: string[] = [];
    for await (const id of byClient.records.resourceIds()) ids.push(id);
    expect(ids).toEqual(["a"]);
    expect(await tellRedis(server.url, "EXISTS", "holdfast:lock:a")).toBe(1);
  });

  it("is woken by releases, over a connection beside the client's", async () => {
    const server = await startOwnRedis();
    closing.push(() => server.stop());
    const client = brought(new Redis(server.url));
    const [one, two] = [provider(client), provider(client)];
    let release!: () => void;
    const first = one.withLock("a", () => new Promise<void>((resolve) => (release = resolve)));
    await pause(200);
    const second = two.withLock("a", () => performance.now(), { timeout: 10_000 });
    for (let tries = 0; (await subscribers(server.url)) === 0; tries += 1) {
      expect(tries).toBeLessThan(100);
      await pause(20);
    }
    const releasedMs = performance.now();
    release();
    await first;
    expect((await second) - releasedMs).toBeLessThan(5_000);
    // A client that is subscribed could no longer be asked anything.
    expect(client.mode).toBe("normal");
    expect(await client.ping()).toBe("PONG");
  });

  it("is neither used nor closed: the locks' own connections end with their provider", async () => {
    const server = await startOwnRedis();
    closing.push(() => server.stop());
    const client = brought(new Redis(server.url, { connectionName: "mine" }));
    const lazy = brought(new Redis(server.url, { connectionName: "lazy", lazyConnect: true }));
    for (const each of [client, lazy]) {
      const locks = new RedisLockProvider(each, { lease: LEASE });
      expect(await locks.withLock("a", () => "in")).toBe("in");
      expect(await namesOf(server.url)).toContain("holdfast");
      await locks.close();
    }
    for (let tries = 0; (await namesOf(server.url)).includes("holdfast"); tries += 1) {
      expect(tries).toBeLessThan(100);
      await pause(20);
    }
    expect(await namesOf(server.url)).toEqual(["mine"]);
    expect([client.status, lazy.status]).toEqual(["ready", "wait"]);
  });

  it("brings its password and its database along", async () => {
    const server = await startOwnRedis();
    closing.push(() => server.stop());
    await tellRedis(server.url, "ACL", "SETUSER", "locker", "on", ">secret", "~*", "&*", "+@all");
    const port = Number(new URL(server.url).port);
    const client = brought(new Redis({ port, username: "locker", password: "secret", db: 3 }));
    await provider(client).withLock("a", () => undefined);
    const admin = brought(new Redis(server.url, { db: 3 }));
    expect(await admin.exists("holdfast:lock:a")).toBe(1);
    const stranger = brought(new Redis({ port, username: "locker", password: "guess" }));
    const refused = provider(stranger).withLock("a", () => undefined);
    await expect(refused).rejects.toMatchObject({ code: "lock_unavailable", permanent: true });
  });

  it("through sentinels goes where they lead, also after a failover, and never to a replica", async () => {
    const servers = await startOwnRedisSentinel();
    closing.push(() => servers.stop());
    const { hostname: host, port } = new URL(servers.itself);
    const client = brought(
      new Redis({ sentinels: [{ host, port: Number(port) }], name: "locks", role: "slave", db: 2 }),
    );
    const [byClient, byUrl] = [provider(client), provider(`${servers.url}/2`)];
    await byClient.withLock("a", async (hold) => {
      await servers.failOver();
      for (let round = 0; round < 6; round += 1) {
        await pause(1_000);
        hold.assertHeld();
        await expect(byUrl.withLock("a", () => "in", { timeout: 0 })).rejects.toMatchObject({
          code: "lock_timeout",
        });
      }
    });
    expect(await byUrl.withLock("a", () => "in", { timeout: 20_000 })).toBe("in");
  });

  it("of a cluster locks ids in any slot, on masters alone, also after a failover", async () => {
    const servers = await startOwnRedisCluster();
    closing.push(() => servers.stop());
    const nodes = servers.nodes.map(({ url }) => ({ host: "127.0.0.1", port: Number(new URL(url).port) }));
    const client = brought(new Cluster(nodes, { scaleReads: "slave", keyPrefix: "app:" }));
    const [byClient, byUrl] = [provider(client), provider(servers.url)];
    const ids = Array.from({ length: 12 }, (_, n) => `id-${n}`);
    const each = (work: (id: string) => Promise<unknown>): Promise<unknown[]> => Promise.all(ids.map(work));
    // Who does not wait should meet a holder, and not a connection to one of the masters that is still being made.
    for (const locks of [byClient, byUrl]) await each((id) => locks.withLock(id, () => "in"));
    await each((id) =>
      byClient.withLock(id, () =>
        expect(byUrl.withLock(id, () => "in", { timeout: 0 })).rejects.toMatchObject({
          code: "lock_timeout",
        }),
      ),
    );
    await servers.failOver();
    expect(new Set(await each((id) => byClient.withLock(id, () => "in", { timeout: 20_000 })))).toEqual(
      new Set(["in"]),
    );
    const found: string[] = [];
    for await (const id of byClient.records.resourceIds()) found.push(id);
    expect(found.sort()).toEqual([...ids].sort());

    const single = brought(new Redis(nodes[0]!));
    const refusal = await provider(single)
      .withLock("a", () => undefined)
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(LockUnavailableError);
    expect((refusal as Error).message).toMatch(/this is a Redis Cluster: bring a Cluster of ioredis/);
  });
});

async function subscribers(url: string): Promise<number> {
  const [, count] = (await tellRedis(url, "PUBSUB", "NUMSUB", "holdfast:lock:released")) as [string, number];
  return count;
}
