import { existsSync } from "node:fs";
import { Redis } from "ioredis";
import { Client } from "pg";
import { startOwnPostgres } from "./own-postgres";
import { startOwnRedis, type OwnServer } from "./own-redis";
import { describeWithOwn, describeWithPostgres, describeWithRedis } from "./servers";

async function postgres<Row>(url: string, statement: string): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(statement)).rows as Row[];
  } finally {
    await client.end();
  }
}

describeWithPostgres("a test with PostgreSQL", (server) => {
  const seen: string[] = [];

  test.each(["the first", "the second"])("%s works in a database of its own", async () => {
    await postgres(server.url, "CREATE TABLE only_here (n int)");
    expect(seen).not.toContain(server.url);
    seen.push(server.url);
  });
});

describeWithRedis("a test with Redis", (server) => {
  const seen: string[] = [];

  test.each(["the first", "the second"])("%s has keys of its own", async () => {
    const redis = new Redis(server.url);
    await redis.set(`${server.keyPrefix}mine`, "1");
    expect(await redis.keys(`${seen.at(-1) ?? "holdfast-test:nothing"}*`)).toEqual([]);
    redis.disconnect();
    seen.push(server.keyPrefix);
  });
});

function provesItself(start: () => Promise<OwnServer>, ask: (url: string) => Promise<unknown>): void {
  let server: OwnServer;
  beforeAll(async () => {
    server = await start();
  }, 60_000);
  afterAll(() => server.stop());

  test("says nothing while paused, and goes on afterwards", async () => {
    server.pause();
    let answered = false;
    const answer = ask(server.url).then(() => (answered = true));
    // Not a measurement: a server that was not paused answers within these rounds, and the test turns red.
    for (let round = 0; round < 20; round++) await new Promise((resolve) => setTimeout(resolve, 25));
    expect(answered).toBe(false);
    server.continue();
    await answer;
  });

  test("comes back at the same address after a kill", async () => {
    const before = server.pid;
    await server.kill();
    await expect(ask(server.url)).rejects.toThrow();
    await server.restart();
    await ask(server.url);
    expect(server.pid).not.toBe(before);
  });

  test("is gone after stop, even if it was paused", async () => {
    const another = await start();
    const { pid } = another;
    another.pause();
    await another.stop();
    expect(existsSync(`/proc/${pid}`)).toBe(false);
  }, 60_000);
}

describeWithOwn("postgres", "a PostgreSQL of the test's own", () => {
  provesItself(startOwnPostgres, (url) => postgres(url, "SELECT 1"));
});

describeWithOwn("redis", "a Redis of the test's own", () => {
  provesItself(startOwnRedis, async (url) => {
    const redis = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 0, retryStrategy: () => null });
    redis.on("error", () => undefined);
    try {
      await redis.connect();
      await redis.ping();
    } finally {
      if (redis.status !== "end") redis.disconnect();
    }
  });

  test("keeps its keys over a kill when it is durable", async () => {
    const server = await startOwnRedis({ durable: true });
    const redis = new Redis(server.url);
    redis.on("error", () => undefined);
    await redis.set("k", "v");
    await server.kill();
    await server.restart();
    expect(await redis.get("k")).toBe("v");
    redis.disconnect();
    await server.stop();
  }, 60_000);
});
