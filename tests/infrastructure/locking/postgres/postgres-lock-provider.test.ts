import { hostname } from "node:os";
import {
  LockLostError,
  LockTimeoutError,
  LockUnavailableError,
} from "../../../../src/application/ports/lock-errors";
import type { LockHold } from "../../../../src/application/ports/lock-provider";
import { systemLockClock, type LockClock } from "../../../../src/infrastructure/locking/lock-clock";
import { PostgresLockBackend } from "../../../../src/infrastructure/locking/postgres/postgres-lock-backend";
import { PostgresLockInspector } from "../../../../src/infrastructure/locking/postgres/postgres-lock-inspector";
import { PostgresLockProvider } from "../../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { raiseFences } from "../../../../src/infrastructure/locking/postgres/postgres-lock-schema";
import { startOwnPostgres } from "../../../support/servers/own-postgres";
import type { OwnServer } from "../../../support/servers/own-redis";
import { poolingProxy } from "../../../support/servers/pooling-proxy";
import { query, sessionHolding, terminateHolder } from "../../../support/servers/postgres-locks";
import {
  describeWithOwn,
  describeWithPostgres,
  describeWithPostgresSchemas,
} from "../../../support/servers/servers";
import { tcpRelayTo, type TcpRelay } from "../../../support/servers/tcp-relay";

jest.setTimeout(60_000);

const SCHEMA = "holdfast_locks";
const closing: (() => Promise<unknown>)[] = [];
const closeAfterEach = (): void =>
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

type Options = ConstructorParameters<typeof PostgresLockProvider>[1];

function provider(url: string, options: Options = {}, clock?: LockClock): PostgresLockProvider {
  const made = new PostgresLockProvider(url, { ...options, ...(clock === undefined ? {} : { clock }) });
  closing.push(() => made.close());
  return made;
}

/** Resolves when inside; stays until `leave`. */
async function occupy(
  locks: PostgresLockProvider,
  resourceId: string,
  purpose?: string,
): Promise<{ hold: LockHold; leave: () => Promise<void> }> {
  let letGo!: () => void;
  const told = new Promise<void>((resolve) => (letGo = resolve));
  let done: Promise<void> | undefined;
  const hold = await new Promise<LockHold>((resolve, reject) => {
    const stay = (given: LockHold): Promise<void> => {
      resolve(given);
      return told;
    };
    done = locks.withLock(resourceId, stay, {
      timeout: 30_000,
      ...(purpose === undefined ? {} : { purpose }),
    });
    done.catch(reject);
  });
  const leave = async (): Promise<void> => {
    letGo();
    await done;
  };
  closing.push(leave);
  return { hold, leave };
}

function lossOf({ signal }: LockHold): Promise<string> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(String(signal.reason));
    signal.addEventListener("abort", () => resolve(String(signal.reason)), { once: true });
  });
}

const nothing = async (): Promise<void> => {};

describeWithPostgres("locks held by a PostgreSQL session", (server) => {
  closeAfterEach();
  it("a lock held by a PostgreSQL session names host, process, purpose and since when to those who wait in vain, and how to end it", async () => {
    const before = Date.now() - 1_000;
    await occupy(provider(server.url), "payment:1", "capture");
    const refused = provider(server.url).withLock("payment:1", nothing, { timeout: 0 });
    const error = await refused.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(LockTimeoutError);
    const { holder, advice } = error as LockTimeoutError;
    expect(holder).toMatchObject({ host: hostname(), pid: process.pid, purpose: "capture" });
    expect(holder!.since!.getTime()).toBeGreaterThan(before);
    const session = await sessionHolding(server.url, SCHEMA, "payment:1");
    expect(advice).toContain(`pg_terminate_backend(${session})`);
  });

  it("a lock held by a PostgreSQL session tells a waiting process of a release, and nobody when nobody waits", async () => {
    const holder = new PostgresLockBackend(server.url);
    const waiter = new PostgresLockBackend(server.url);
    closing.push(
      () => holder.close(),
      () => waiter.close(),
    );
    const take = async (): Promise<() => Promise<void>> => {
      const taken = await holder.attempt("payment:1", { mayWait: true });
      if (taken.kind !== "acquired") throw new Error(taken.kind);
      return () => taken.tenure.release();
    };
    let wakes = 0;
    let awake!: () => void;
    const woken = new Promise<void>((resolve) => (awake = resolve));
    waiter.onReleased("payment:1", () => {
      wakes += 1;
      awake();
    });
    const unasked = await take();
    expect(await waiter.attempt("payment:1", { mayWait: false })).toMatchObject({ kind: "held" });
    await unasked();
    await waiter.probe();
    expect(wakes).toBe(0);
    const asked = await take();
    expect(await waiter.attempt("payment:1", { mayWait: true })).toMatchObject({ kind: "held" });
    await asked();
    await woken;
    expect(wakes).toBe(1);
  });

  it("a lock held by a PostgreSQL session is listed with its holder while it is held, and not after its session was killed", async () => {
    const { hold } = await occupy(provider(server.url), "task:\0 nightly", "export");
    const inspector = new PostgresLockInspector(server.url);
    closing.push(() => inspector.close());
    expect(await inspector.list()).toMatchObject([
      { resourceId: "task:\0 nightly", state: "held", holder: { pid: process.pid, purpose: "export" } },
    ]);
    expect(await inspector.break("task:\0 nightly")).toMatchObject({ outcome: "end_the_processes" });
    const lost = lossOf(hold);
    await terminateHolder(server.url, SCHEMA, "task:\0 nightly");
    await lost;
    expect(await inspector.list()).toEqual([]);
    expect(await inspector.break("task:\0 nightly")).toEqual({ outcome: "not_held" });
  });

  it("a lock held by a PostgreSQL session is not left over by a statement that failed after it had taken the lock", async () => {
    const [first, second] = [provider(server.url), provider(server.url)];
    await first.withLock("warm", nothing);
    await query(
      server.url,
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
       CREATE TRIGGER refuse BEFORE INSERT ON ${SCHEMA}.holds FOR EACH ROW EXECUTE FUNCTION refuse()`,
    );
    await expect(first.withLock("payment:1", nothing, { timeout: 0 })).rejects.toThrow(LockUnavailableError);
    await query(server.url, `DROP TRIGGER refuse ON ${SCHEMA}.holds`);
    expect(await second.withLock("payment:1", async () => "free", { timeout: 0 })).toBe("free");
  });

  it("a lock held by a PostgreSQL session loses every lock of a process at once, and only of that process", async () => {
    const mine = provider(server.url);
    const holds = [await occupy(mine, "a"), await occupy(mine, "b")];
    const theirs = await occupy(provider(server.url), "c");
    await terminateHolder(server.url, SCHEMA, "a");
    await Promise.all(holds.map(({ hold }) => lossOf(hold)));
    for (const { hold } of holds) expect(() => hold.assertHeld()).toThrow(LockLostError);
    theirs.hold.assertHeld();
  });

  it("a lock held by a PostgreSQL session is over for assertHeld as soon as the clock says that the server was silent too long, before any timer", async () => {
    let skippedMs = 0;
    const clock: LockClock = { ...systemLockClock, monotonicMs: () => performance.now() + skippedMs };
    const { hold } = await occupy(provider(server.url, {}, clock), "a");
    hold.assertHeld();
    skippedMs = 8_000;
    expect(() => hold.assertHeld()).toThrow(LockLostError);
    expect(hold.signal.aborted).toBe(true);
  });

  it("a lock held by a PostgreSQL session is not lent twice by the session that has it, which the server would do", async () => {
    const backend = new PostgresLockBackend(server.url);
    closing.push(() => backend.close());
    const first = await backend.attempt("a", { mayWait: false });
    expect(first.kind).toBe("acquired");
    expect(await backend.attempt("a", { mayWait: false })).toEqual({ kind: "held" });
  });

  it("a lock held by a PostgreSQL session opens no session again for those who ask after it was closed", async () => {
    const closed = provider(server.url);
    await closed.withLock("a", nothing);
    await closed.close();
    await expect(closed.probe()).rejects.toThrow(/closed/);
    const sessions = await query(
      server.url,
      "SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'holdfast locks%' AND datname = current_database()",
    );
    expect(sessions).toEqual([]);
  });

  it("a lock held by a PostgreSQL session keeps two schemas of one database apart", async () => {
    await occupy(provider(server.url), "a");
    const other = provider(server.url, { schema: "elsewhere" });
    expect(await other.withLock("a", async () => "in", { timeout: 0 })).toBe("in");
  });

  it("a lock held by a PostgreSQL session may be used by a role that may not make the schema", async () => {
    await provider(server.url).withLock("a", nothing);
    const role = `${new URL(server.url).pathname.slice(1)}_guest`;
    await query(
      server.url,
      `CREATE ROLE ${role} LOGIN; GRANT USAGE ON SCHEMA ${SCHEMA} TO ${role};
       GRANT ALL ON ALL TABLES IN SCHEMA ${SCHEMA} TO ${role}; GRANT ALL ON ALL SEQUENCES IN SCHEMA ${SCHEMA} TO ${role}`,
    );
    closing.push(() => query(server.url, `DROP OWNED BY ${role}; DROP ROLE ${role}`));
    const url = new URL(server.url);
    url.username = role;
    expect(await provider(url.href).withLock("a", async () => "in")).toBe("in");
  });
});

describeWithPostgresSchemas("behind a proxy", (server) => {
  closeAfterEach();
  it.each([
    ["deals out the session used last", {}],
    ["deals out sessions in turn", { next: "used first" }],
    ["has a single session", { sessions: 1 }],
  ] as const)("refuses in words where it pools transactions and %s", async (_, dealing) => {
    const proxy = await poolingProxy(server.url, { pooling: "transaction", ...dealing });
    closing.push(() => proxy.close());
    await expect(provider(proxy.url, { schema: "pooled" }).withLock("a", nothing)).rejects.toThrow(
      /transaction or statement pooling.*connect directly/,
    );
  });

  it("works where a client keeps its session", async () => {
    const proxy = await poolingProxy(server.url, { pooling: "session" });
    closing.push(() => proxy.close());
    expect(await provider(proxy.url, { schema: "kept" }).withLock("a", async () => "in")).toBe("in");
  });
});

describeWithPostgresSchemas("where a second session cannot be had", (server) => {
  closeAfterEach();
  it("is told within the limit for an answer, and closed as soon as somebody wants it closed", async () => {
    const proxy = await poolingProxy(server.url, { pooling: "session", sessions: 1, whenEmpty: "wait" });
    closing.push(() => proxy.close());
    const options = { schema: "single", answerTimeoutMs: 500 };
    const beganMs = performance.now();
    await expect(provider(proxy.url, options).withLock("a", nothing, { timeout: 0 })).rejects.toThrow(
      LockUnavailableError,
    );
    // The default would be 5 s.
    expect(performance.now() - beganMs).toBeLessThan(3_000);

    const patient = provider(proxy.url, { ...options, answerTimeoutMs: 20_000 });
    const waiting = patient.withLock("a", nothing, { timeout: 20_000 });
    const refused = expect(waiting).rejects.toThrow(/closed/);
    await new Promise((resolve) => setTimeout(resolve, 100));
    const closedMs = performance.now();
    await patient.close();
    // Its own limit is 20 s.
    expect(performance.now() - closedMs).toBeLessThan(3_000);
    await refused;
  });
});

describeWithPostgres("on a server whose advisory locks exclude nobody", (server) => {
  closeAfterEach();
  it("is refused in words", async () => {
    await query(
      server.url,
      `CREATE SCHEMA stub;
       CREATE FUNCTION stub.pg_try_advisory_lock(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true';
       CREATE FUNCTION stub.pg_advisory_unlock(bigint) RETURNS boolean LANGUAGE sql AS 'SELECT true'`,
    );
    const url = new URL(server.url);
    url.searchParams.set("options", "-c search_path=stub,pg_catalog,public");
    await expect(provider(url.href).withLock("a", nothing, { timeout: 5_000 })).rejects.toThrow(
      /exclude nobody/,
    );
  });
});

describeWithPostgres("the tokens of locks held by a PostgreSQL session", (server) => {
  closeAfterEach();
  const tokenFrom = (locks: PostgresLockProvider): Promise<bigint> =>
    locks.withLock("a", async ({ fencingToken }) => fencingToken);
  const setBack = (to: bigint): Promise<unknown> =>
    query(server.url, `SELECT setval('${SCHEMA}.fence', $1)`, [to]);

  it("the tokens of locks held by a PostgreSQL session are later than the server's clock when a process begins, whatever was lent elsewhere meanwhile", async () => {
    await tokenFrom(provider(server.url));
    await setBack(5n);
    const [row] = await query<{ now: string }>(
      server.url,
      "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now",
    );
    expect(await tokenFrom(provider(server.url))).toBeGreaterThan(BigInt(row!.now));
  });

  it("the tokens of locks held by a PostgreSQL session are later than what the process has seen, also if the server forgot it", async () => {
    const locks = provider(server.url);
    await tokenFrom(locks);
    await setBack(4_000_000_000_000n);
    const { hold, leave } = await occupy(locks, "a");
    await setBack(5n);
    const lost = lossOf(hold);
    await terminateHolder(server.url, SCHEMA, "a");
    await lost;
    await leave();
    expect(await tokenFrom(locks)).toBeGreaterThan(hold.fencingToken);
  });

  it("the tokens of locks held by a PostgreSQL session are not set back while others draw", async () => {
    const backend = new PostgresLockBackend(server.url);
    closing.push(() => backend.close());
    await backend.probe();
    const drawn: bigint[] = [];
    let isOver = false;
    const drawing = (async () => {
      while (!isOver) {
        const taken = await backend.attempt("a", { mayWait: false });
        if (taken.kind !== "acquired") throw new Error(taken.kind);
        drawn.push(taken.tenure.fencingToken);
        await taken.tenure.release();
      }
    })();
    // A clock just ahead of the sequence is what a raise has to get past.
    for (let round = 0; round < 100; round += 1)
      await query(server.url, raiseFences(SCHEMA, (drawn.at(-1) ?? 0n) + 3n));
    isOver = true;
    await drawing;
    for (const [index, token] of drawn.entries())
      if (index > 0) expect(token).toBeGreaterThan(drawn[index - 1]!);
  });
});

describeWithPostgres("locks where every transaction is serializable", (server) => {
  closeAfterEach();
  it("meet contention, and no error", async () => {
    const name = new URL(server.url).pathname.slice(1);
    await query(server.url, `ALTER DATABASE ${name} SET default_transaction_isolation = 'serializable'`);
    const backends = [1, 2, 3].map(() => new PostgresLockBackend(server.url));
    closing.push(...backends.map((backend) => () => backend.close()));
    await backends[0]!.probe();
    const seen = new Set<string>();
    const cycle = async (backend: PostgresLockBackend): Promise<void> => {
      for (let round = 0; round < 100; round += 1) {
        const answer = await backend.attempt("a", { mayWait: true });
        seen.add(answer.kind);
        if (answer.kind === "acquired") await answer.tenure.release();
      }
    };
    await Promise.all(backends.map(cycle));
    expect([...seen].sort()).toEqual(["acquired", "held"]);
  });
});

describeWithOwn(
  "postgres",
  "on a server that goes down and comes back while its holder hears nothing",
  () => {
    closeAfterEach();
    const options = { heartbeatMs: 1_000, answerTimeoutMs: 2_000 };
    const LIMIT_MS = options.heartbeatMs + options.answerTimeoutMs;

    async function cutOff(): Promise<{ server: OwnServer; relay: TcpRelay; locks: PostgresLockProvider }> {
      const server = await startOwnPostgres();
      closing.push(() => server.stop());
      const relay = await tcpRelayTo(server.url);
      closing.push(() => relay.close());
      return { server, relay, locks: provider(relay.url, options) };
    }

    it.each([
      ["a fast restart", (server: OwnServer): Promise<unknown> => server.restart()],
      [
        "the crash of one of its processes",
        async (server: OwnServer): Promise<unknown> =>
          process.kill(await sessionHolding(server.url, SCHEMA, "a"), "SIGKILL"),
      ],
    ])("lends nothing before the holder must know: %s", async (_, fail) => {
      const { server, relay, locks } = await cutOff();
      const { hold } = await occupy(locks, "a");
      relay.silence();
      const lost = lossOf(hold).then(() => performance.now());
      await fail(server);
      const failedMs = performance.now();
      const newcomer = provider(server.url, options);
      const enteredMs = await newcomer.withLock("a", async () => performance.now(), { timeout: 20_000 });
      expect(enteredMs).toBeGreaterThan(await lost);
      expect(enteredMs - failedMs).toBeLessThan(LIMIT_MS + 6_000);
    });

    it("says so to who does not wait, and lends at once to who comes later", async () => {
      const { server } = await cutOff();
      await expect(provider(server.url, options).withLock("a", nothing, { timeout: 0 })).rejects.toThrow(
        /has just started: nothing is lent/,
      );
      await new Promise((resolve) => setTimeout(resolve, LIMIT_MS));
      expect(await provider(server.url, options).withLock("a", async () => "in", { timeout: 0 })).toBe("in");
    });
  },
);

describeWithOwn("postgres", "on a server that fails", () => {
  closeAfterEach();
  it("tells the holder when the server no longer answers, and lends again over a new session", async () => {
    const server = await startOwnPostgres();
    closing.push(() => server.stop());
    const { hold } = await occupy(provider(server.url, { heartbeatMs: 50, answerTimeoutMs: 400 }), "a");
    const session = await sessionHolding(server.url, SCHEMA, "a");
    process.kill(session, "SIGSTOP");
    expect(await lossOf(hold)).toMatch(/not answered/);
    expect(() => hold.assertHeld()).toThrow(LockLostError);
    process.kill(session, "SIGCONT");
    const next = provider(server.url);
    expect(await next.withLock("a", async () => "free", { timeout: 30_000 })).toBe("free");
  });

  it("tells the holder of a restart, serves who waited over it, and goes on counting", async () => {
    const server = await startOwnPostgres();
    closing.push(() => server.stop());
    const { hold } = await occupy(provider(server.url), "a");
    const waiting = provider(server.url).withLock("a", async ({ fencingToken }) => fencingToken, {
      timeout: 50_000,
    });
    const lost = lossOf(hold);
    await server.restart();
    await lost;
    expect(await waiting).toBeGreaterThan(hold.fencingToken);
  });
});
