import { writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { Pool, type PoolConfig } from "pg";
import {
  LeaseLockProvider,
  PostgresLeaseRecordStore,
  PostgresLockProvider,
  type PostgresPlace,
} from "../../../../src/locks";
import { QUICK_LEASE } from "../../../support/servers/gcs-locks";
import { startOwnPostgres } from "../../../support/servers/own-postgres";
import type { OwnServer } from "../../../support/servers/own-redis";
import { query, terminateHolder } from "../../../support/servers/postgres-locks";
import { describeWithOwn, describeWithPostgres } from "../../../support/servers/servers";
import { selfSigned, type Certificate } from "./self-signed";

jest.setTimeout(60_000);

const SCHEMA = "holdfast_locks";

const closing: (() => unknown)[] = [];
const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

function provider(where: PostgresPlace): PostgresLockProvider {
  const made = new PostgresLockProvider(where);
  closing.push(() => made.close());
  return made;
}

function pool(config: PoolConfig): Pool {
  const made = new Pool(config);
  closing.push(() => made.end());
  return made;
}

/** What people put into an address, in the fields of a configuration. */
function fieldsOf(url: string): PoolConfig {
  const { hostname: host, port, username: user, password, pathname } = new URL(url);
  return { host, port: Number(port), user, password, database: pathname.slice(1) };
}

test("an address of something else is refused by its scheme, and nothing else of it is told", () => {
  for (const url of ["mysql://me:secret@localhost/jobs", "localhost:5432/secret", "redis://secret"])
    expect(() => new PostgresLockProvider(url)).toThrow(
      new RangeError(`PostgreSQL's URL begins with "postgres://", not with "${url.split(":")[0]}:"`),
    );
});

test("what is no place of a PostgreSQL is refused in words", () => {
  for (const where of [undefined, null, 5432])
    expect(() => new PostgresLockProvider(where as never)).toThrow(
      /^PostgreSQL needs a URL, a configuration of pg, or a pool of it$/,
    );
  expect(() => new PostgresLockProvider({ stream: new Socket() })).toThrow(
    /^`stream` has to be a function: each connection needs a socket of its own$/,
  );
});

describeWithPostgres("a configuration of pg, or a pool of it", (server) => {
  closeAfterEach();

  it("excludes whoever comes by the URL, however the pool is configured", async () => {
    const comfortable = { binary: true, query_timeout: 1, statement_timeout: 1, max: 1 };
    const mine = pool({ ...fieldsOf(server.url), ...comfortable });
    const byUrl = provider(server.url);
    for (const where of [mine, { ...fieldsOf(server.url), ...comfortable }]) {
      const byClient = provider(where);
      const fence = await byClient.withLock("a", async ({ fencingToken }) => {
        await expect(byUrl.withLock("a", () => "in", { timeout: 0 })).rejects.toMatchObject({
          code: "lock_timeout",
        });
        return fencingToken;
      });
      expect(await byUrl.withLock("a", ({ fencingToken }) => fencingToken)).toBeGreaterThan(fence);
    }
  });

  it("gives up none of the pool's connections, and the pool works on when the locks are closed", async () => {
    const mine = pool({ connectionString: server.url, max: 1 });
    const locks = new PostgresLockProvider(mine);
    await locks.withLock("a", async () => {
      expect(mine.totalCount).toBe(0);
      // With a single connection, which the locks would keep for as long as they live.
      expect((await mine.query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
    });
    await locks.close();
    const { rows } = await mine.query<{ name: string }>(
      "SELECT application_name AS name FROM pg_stat_activity WHERE datname = current_database()",
    );
    expect(rows.filter(({ name }) => name.startsWith("holdfast"))).toEqual([]);
  });

  it("makes sockets as it is told, one for each connection", async () => {
    const { hostname, port } = new URL(server.url);
    const made: Socket[] = [];
    const stream = (): Socket => {
      const socket = new Socket();
      const connect = socket.connect.bind(socket) as (port: number, host: string) => Socket;
      socket.connect = () => connect(Number(port), hostname);
      made.push(socket);
      return socket;
    };
    // As the connectors of clouds do: the address leads nowhere, and only the socket knows the way.
    const nowhere = { ...fieldsOf(server.url), host: "127.0.0.1", port: 1, stream };
    const locks = provider(nowhere);
    expect(await locks.withLock("a", () => "in")).toBe("in");
    const ofLocks = made.length;
    expect(ofLocks).toBeGreaterThan(0);
    const records = new PostgresLeaseRecordStore({ url: nowhere });
    await records.probe();
    expect(made.length).toBeGreaterThan(ofLocks);
    await records.close();
    await locks.close();
    expect(made.every(({ destroyed }) => destroyed)).toBe(true);
  });
});

describeWithOwn("postgres", "a PostgreSQL that wants TLS and tokens", () => {
  let certificate: Certificate;
  let server: OwnServer;

  beforeAll(async () => {
    certificate = selfSigned();
    const hba = join(certificate.folder, "pg_hba.conf");
    const lines = ["hostssl all locker 127.0.0.1/32 scram-sha-256", "host all holdfast 127.0.0.1/32 trust"];
    writeFileSync(hba, `${lines.join("\n")}\n`, { mode: 0o644 });
    server = await startOwnPostgres({
      ssl: "on",
      ssl_cert_file: certificate.cert,
      ssl_key_file: certificate.key,
      hba_file: hba,
    });
    await query(server.url, "CREATE ROLE locker LOGIN PASSWORD 'token-1'");
    await query(server.url, "GRANT CREATE ON DATABASE postgres TO locker");
  });
  closeAfterEach();
  afterAll(async () => {
    await server.stop();
    certificate.remove();
  });

  /** As for a token that is made for each connection and soon out of date. */
  interface WithTokens {
    readonly config: PoolConfig & { readonly password: () => Promise<string> };
    token: string;
    asked: number;
  }

  function withTokens(): WithTokens {
    const { port } = new URL(server.url);
    const given: WithTokens = {
      token: "token-1",
      asked: 0,
      config: {
        host: "127.0.0.1",
        port: Number(port),
        user: "locker",
        database: "postgres",
        ssl: { ca: certificate.pem },
        password: async () => {
          given.asked += 1;
          return given.token;
        },
      },
    };
    return given;
  }

  const encrypted = (): Promise<{ name: string; ssl: boolean }[]> =>
    query(
      server.url,
      `SELECT application_name AS name, ssl FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE usename = 'locker' AND application_name LIKE 'holdfast%'`,
    );

  it("lends to a pool that has both, over TLS, and asks for a token whenever it connects", async () => {
    const given = withTokens();
    const locks = provider(pool(given.config));
    await locks.withLock("a", async () => {
      expect(await encrypted()).toEqual([{ name: expect.stringMatching(/^holdfast locks /), ssl: true }]);
    });
    const askedBefore = given.asked;
    expect(askedBefore).toBeGreaterThan(0);

    given.token = "token-2";
    await query(server.url, "ALTER ROLE locker PASSWORD 'token-2'");
    await locks.withLock("a", async (hold) => {
      const lost = new Promise((resolve) => hold.signal.addEventListener("abort", resolve));
      await terminateHolder(server.url, SCHEMA, "a");
      await lost;
    });
    expect(await locks.withLock("a", () => "in")).toBe("in");
    expect(given.asked).toBeGreaterThan(askedBefore);
    given.token = "token-1";
    await query(server.url, "ALTER ROLE locker PASSWORD 'token-1'");
  });

  it("keeps leases for a pool that has both, and hears of releases", async () => {
    const mine = pool(withTokens().config);
    const [one, two] = [1, 2].map(() => {
      const records = new PostgresLeaseRecordStore({ url: mine });
      const locks = new LeaseLockProvider(records, { lease: QUICK_LEASE });
      closing.push(async () => {
        await locks.close();
        await records.close();
      });
      return locks;
    });
    await one!.withLock("b", async () => {
      expect((await encrypted()).every(({ ssl }) => ssl)).toBe(true);
      await expect(two!.withLock("b", () => "in", { timeout: 0 })).rejects.toMatchObject({
        code: "lock_timeout",
      });
    });
    expect(await two!.withLock("b", () => "in", { timeout: 10_000 })).toBe("in");
    expect(mine.totalCount).toBe(0);
  });

  it("tells as a lock that cannot be had, with the reason, that there is no token", async () => {
    const locks = provider({
      ...withTokens().config,
      password: async () => {
        throw new Error("the token service is down");
      },
    });
    await expect(locks.withLock("a", () => "in", { timeout: 0 })).rejects.toMatchObject({
      code: "lock_unavailable",
      message: expect.stringContaining("the token service is down"),
    });
  });

  it("refuses for good who has a wrong token; a certificate that nobody trusts is no server", async () => {
    const given = withTokens();
    given.token = "guess";
    await expect(provider(given.config).withLock("a", () => "in")).rejects.toMatchObject({
      code: "lock_unavailable",
      permanent: true,
    });
    await expect(
      provider({ ...withTokens().config, ssl: true }).withLock("a", () => "in", { timeout: 0 }),
    ).rejects.toMatchObject({
      code: "lock_unavailable",
      message: expect.stringMatching(/self-signed certificate/),
    });
  });
});
