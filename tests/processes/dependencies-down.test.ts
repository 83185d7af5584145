import { Client } from "pg";
import { startedProgram } from "../support/program/built-program";
import { eventually } from "../support/program/holdfast-cli";
import { HoldfastProcess } from "../support/program/holdfast-process";
import { startOwnPostgres } from "../support/servers/own-postgres";
import { startOwnRedis } from "../support/servers/own-redis";
import type { OwnServer } from "../support/servers/own-redis";
import { Relay } from "../support/servers/relay";
import { describeWithOwn, describeWithPostgres } from "../support/servers/servers";
import { startStandby, type Standby } from "../support/servers/standby-postgres";
import { temporaryDirectory } from "../support/worlds/temporary-directory";

jest.setTimeout(120_000);

const temporary = temporaryDirectory();
const running: HoldfastProcess[] = [];

async function serve(...args: string[]): Promise<HoldfastProcess> {
  const main = await startedProgram();
  const started = new HoldfastProcess([main, "serve", "--port", "0", "--log-level", "fatal", ...args], {
    cwd: temporary.path,
  });
  running.push(started);
  return started;
}

async function readiness(url: string): Promise<{ status: number; dependencies: Record<string, string> }> {
  const answer = await fetch(`${url}/readyz`);
  const { dependencies } = (await answer.json()) as { dependencies: Record<string, string> };
  return { status: answer.status, dependencies };
}

/** Asks until it is as expected: a server that comes back is noticed with the next connection. */
async function expectReadiness(url: string, expected: Awaited<ReturnType<typeof readiness>>): Promise<void> {
  let found = await readiness(url);
  for (let look = 0; look < 40 && found.status !== expected.status; look += 1) {
    await new Promise((resolve) => setTimeout(resolve, 250));
    found = await readiness(url);
  }
  expect(found).toEqual(expected);
}

const endAll = async (): Promise<void> => {
  await Promise.all(running.splice(0).map((each) => each.end("SIGKILL")));
};

describeWithOwn("redis", "/readyz of a server whose locks are in Redis", () => {
  let redis: OwnServer;
  beforeEach(async () => {
    redis = await startOwnRedis();
  });
  afterEach(async () => {
    await endAll();
    await redis.stop();
  });

  it("names the locks as down while Redis is, and recovers by itself", async () => {
    const url = await (await serve("--store", "memory:", "--locks", redis.url)).url();
    await expectReadiness(url, { status: 200, dependencies: { store: "up", locks: "up" } });
    await redis.kill();
    await expectReadiness(url, { status: 503, dependencies: { store: "up", locks: "down" } });
    await redis.restart();
    await expectReadiness(url, { status: 200, dependencies: { store: "up", locks: "up" } });
  });
});

describeWithOwn("postgres", "/readyz of a server on PostgreSQL", () => {
  let postgres: OwnServer;
  beforeEach(async () => {
    postgres = await startOwnPostgres();
  });
  afterEach(async () => {
    await endAll();
    await postgres.stop();
  });

  it("names store and locks as down while PostgreSQL is, and recovers by itself", async () => {
    const url = await (await serve("--store", postgres.url)).url();
    await expectReadiness(url, { status: 200, dependencies: { store: "up", locks: "up" } });
    await postgres.kill();
    await expectReadiness(url, { status: 503, dependencies: { store: "down", locks: "down" } });
    await postgres.restart();
    await expectReadiness(url, { status: 200, dependencies: { store: "up", locks: "up" } });
  });

  it("is not ready while its address leads to a standby, which answers every question, and is ready once that is promoted", async () => {
    const relay = await Relay.open(postgres.url);
    let standby: Standby | undefined;
    try {
      const url = await (await serve("--store", relay.url, "--locks", "memory:")).url();
      await expectReadiness(url, { status: 200, dependencies: { store: "up" } });
      standby = await startStandby(postgres.url);
      relay.leadTo(standby.url);
      const told = await eventually(
        async () => (await fetch(`${url}/readyz`)).text(),
        (text) => text.includes("read_only"),
      );
      expect(JSON.parse(told)).toMatchObject({ status: 503, reasons: { store: "read_only" } });
      await standby.promote();
      await expectReadiness(url, { status: 200, dependencies: { store: "up" } });
    } finally {
      await endAll();
      await relay.close();
      await standby?.stop();
    }
  });
});

describeWithPostgres("a server on PostgreSQL", (server) => {
  afterEach(endAll);

  it("warns where its locks keep nobody else on the database out, and says what still protects the money", async () => {
    const started = await serve("--store", server.url, "--locks", "memory:");
    await started.said(/^holdfast: warning: locks memory: .*versions and constraints.*--locks postgres:/);
  });

  it("is not ready while its database is read-only, says so, and is ready again by itself", async () => {
    const url = await (await serve("--store", server.url)).url();
    await expectReadiness(url, { status: 200, dependencies: { store: "up", locks: "up" } });
    const operator = new Client({ connectionString: server.url });
    await operator.connect();
    try {
      const database = new URL(server.url).pathname.slice(1);
      // Only a session that begins later is read-only.
      const setReadOnly = async (change: string) => {
        await operator.query(`ALTER DATABASE "${database}" ${change}`);
        await operator.query(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()",
          [database],
        );
      };
      await setReadOnly("SET default_transaction_read_only = on");
      const told = await eventually(
        async () => (await fetch(`${url}/readyz`)).text(),
        (text) => text.includes("read_only"),
      );
      expect(JSON.parse(told)).toMatchObject({ status: 503, reasons: { store: "read_only" } });
      await setReadOnly("RESET default_transaction_read_only");
      await eventually(
        async () => (await fetch(`${url}/readyz`)).status,
        (status) => status === 200,
      );
    } finally {
      await operator.end();
    }
  });

  it("shows its pool, within the limit that was set", async () => {
    const url = await (await serve("--store", server.url, "--store-connections", "3")).url();
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toContain('holdfast_store_connections{state="max"} 3');
    expect(metrics).toMatch(/holdfast_store_connections\{state="open"\} [123]\n/);
    expect(metrics).toMatch(/holdfast_store_connections\{state="waiting"\} \d+\n/);
  });
});
