import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import { Redis } from "ioredis";
import { Client } from "pg";
import { PseudoTerminal } from "../program/pseudo-terminal";
import { size } from "../test-size";
import { availability, type ServerKind } from "./server-availability";

/** What a test sees of the PostgreSQL that is there: a database of its own, made before it and dropped after it. */
export interface PostgresForTest {
  readonly url: string;
}

/** What a test sees of the Redis that is there: keys that begin with `keyPrefix` are its own and are removed after it. */
export interface RedisForTest {
  readonly url: string;
  readonly keyPrefix: string;
}

/** A block that needs PostgreSQL. Without one it is reported as skipped, by name, or fails if servers are required. */
export function describeWithPostgres(name: string, tests: (postgres: PostgresForTest) => void): void {
  describeWith("postgres", name, (server) => {
    const own = ownDatabase(server);
    beforeEach(own.make);
    tests(own);
    // Registered last, so that what the block closes after a test is closed by then.
    afterEach(own.drop);
  });
}

/** As `describeWithPostgres`, for a block of many small tests: one database for all, a schema for each. */
export function describeWithPostgresSchemas(name: string, tests: (postgres: PostgresForTest) => void): void {
  describeWith("postgres", name, (server) => {
    const own = ownDatabase(server);
    let schemas = 0;
    beforeAll(own.make);
    beforeEach(() => sql(own.url, `CREATE SCHEMA test_${(schemas += 1)}`));
    afterAll(own.drop);
    tests({
      get url() {
        const url = new URL(own.url);
        url.searchParams.set("options", `-c search_path=test_${schemas}`);
        return url.href;
      },
    });
  });
}

/** As `describeWithPostgres`, for a block that does everything before its first test: one database for all of it. */
export function describeWithOnePostgres(name: string, tests: (postgres: PostgresForTest) => void): void {
  describeWith("postgres", name, (server) => {
    const own = ownDatabase(server);
    beforeAll(own.make);
    tests(own);
    afterAll(own.drop);
  });
}

interface OwnDatabase extends PostgresForTest {
  readonly make: () => Promise<void>;
  readonly drop: () => Promise<void>;
}

function ownDatabase(server: string): OwnDatabase {
  let database: string | undefined;
  return {
    make: async () => {
      database = `holdfast_test_${randomBytes(6).toString("hex")}`;
      await sql(server, `CREATE DATABASE ${database}`);
    },
    drop: async () => {
      const left = database;
      database = undefined;
      if (left !== undefined) await dropDatabase(server, left);
    },
    get url() {
      if (database === undefined)
        throw new Error("there is a database while a test runs: ask for it inside a test");
      const url = new URL(server);
      url.pathname = `/${database}`;
      return url.href;
    },
  };
}

/** A block that needs Redis; see `describeWithPostgres`. */
export function describeWithRedis(name: string, tests: (redis: RedisForTest) => void): void {
  describeWith("redis", name, (url) => {
    let keyPrefix = "";

    beforeEach(() => {
      keyPrefix = `holdfast-test:${randomBytes(6).toString("hex")}:`;
    });

    afterEach(() => removeKeys(url, keyPrefix));

    tests({
      url,
      get keyPrefix() {
        return keyPrefix;
      },
    });
  });
}

/** A block that starts a server of its own (`startOwnPostgres`, `startOwnRedis`), and so needs its programs. */
export function describeWithOwn(kind: ServerKind, name: string, tests: () => void): void {
  describeWith(`own-${kind}`, name, tests);
}

/** A block that needs a terminal that nobody sits at, which Debian's `script` makes. */
export function describeWithPseudoTerminal(name: string, tests: (start: StartTerminal) => void): void {
  describeWith("script", name, () => {
    const started: PseudoTerminal[] = [];
    afterEach(async () => {
      await Promise.all(started.splice(0).map((terminal) => terminal.hangUp()));
    });
    tests((command, cwd) => {
      const terminal = new PseudoTerminal(command, cwd);
      started.push(terminal);
      return terminal;
    });
  });
}

/** A block that mounts filesystems: a disk that is really full, really read-only, or there twice. */
export function describeWithMounts(name: string, tests: () => void): void {
  describeWith("mounts", name, tests);
}

/** A block that runs the peer of `examples/lease-peer`. */
export function describeWithPython(name: string, tests: () => void): void {
  describeWith("python", name, tests);
}

/** A block that goes through pages as a person does. Gets the path of the browser. */
export function describeWithBrowser(name: string, tests: (executablePath: string) => void): void {
  describeWith("browser", name, tests);
}

/** A block about what Linux alone tells: /proc, statfs. */
export function describeOnLinux(name: string, tests: () => void): void {
  describeWhere(process.platform === "linux", "Linux", name, tests);
}

/** A block that gives files to another user. */
export function describeAsRoot(name: string, tests: () => void): void {
  describeWhere(process.geteuid?.() === 0, "root", name, tests);
}

/** A block that asks a Prometheus of its own, or has promtool try the alerts. */
export function describeWithPrometheus(name: string, tests: () => void): void {
  const there = ["prometheus", "promtool"].every(
    (tool) => spawnSync(tool, ["--version"]).error === undefined,
  );
  describeWhere(there, "Prometheus and promtool", name, tests);
}

/** A block about the models below `models/`. */
export function describeWithSpin(name: string, tests: () => void): void {
  const there = ["spin", "gcc"].every((tool) => spawnSync(tool, ["--version"]).error === undefined);
  describeWhere(there, "Spin and a C compiler", name, tests);
}

/** The same where it takes minutes. */
export function describeWithSpinAtFullSize(name: string, tests: () => void): void {
  if (size(true, false)) describeWithSpin(name, tests);
  else describeAtFullSize(name, tests);
}

/** A block whose mistakes a cheaper test, or `npm run check`, finds as well. */
export function describeAtFullSize(name: string, tests: () => void): void {
  describeWhere(size(true, false), FULL_SIZE, name, tests);
}

/** As `describeAtFullSize`, for one test. */
export function testAtFullSize(name: string, body: () => unknown, timeoutMs?: number): void {
  if (size(true, false)) test(name, body as () => Promise<void>, timeoutMs);
  else test.skip(`${name} [needs ${FULL_SIZE}]`, body as () => Promise<void>);
}

const FULL_SIZE = "the full size";

/** What a machine is cannot be installed, so it is skipped even where servers are required. */
function describeWhere(there: boolean, needs: string, name: string, tests: () => void): void {
  if (there) describe(name, tests);
  else describe.skip(`${name} [needs ${needs}]`, tests);
}

type StartTerminal = (command: string, cwd: string) => PseudoTerminal;

function describeWith(what: keyof typeof availability, name: string, tests: (url: string) => void): void {
  const found = availability[what]();
  if (found.there) {
    describe(name, () => tests(found.url));
  } else if (process.env["HOLDFAST_TEST_REQUIRE_SERVERS"] === "1") {
    describe(name, () => {
      test(`needs ${found.needs}`, () => {
        throw new Error(`HOLDFAST_TEST_REQUIRE_SERVERS=1, but ${found.reason}`);
      });
    });
  } else {
    describe.skip(`${name} [needs ${found.needs}]`, () => tests("skipped:"));
  }
}

async function sql<Row>(url: string, statement: string, values: unknown[] = []): Promise<Row[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement, values)).rows as Row[];
  } finally {
    await client.end();
  }
}

/** Fails if somebody is still connected after 2 s: a test that leaves a connection open holds something. */
async function dropDatabase(server: string, database: string): Promise<void> {
  const connected = "SELECT application_name, state, query FROM pg_stat_activity WHERE datname = $1";
  let open = await sql(server, connected, [database]);
  for (let tries = 0; tries < 40 && open.length > 0; tries++) {
    await pause(50);
    open = await sql(server, connected, [database]);
  }
  await sql(server, `DROP DATABASE ${database} WITH (FORCE)`);
  if (open.length > 0)
    throw new Error(`the test left connections to its database open: ${JSON.stringify(open)}`);
}

async function removeKeys(url: string, keyPrefix: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    for await (const keys of redis.scanStream({ match: `${keyPrefix}*`, count: 1000 }))
      if ((keys as string[]).length > 0) await redis.del(keys as string[]);
  } finally {
    redis.disconnect();
  }
}
