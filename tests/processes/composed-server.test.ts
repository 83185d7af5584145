import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { GcsStandIn } from "../support/gcs-stand-in/gcs-stand-in";
import { HoldfastCli } from "../support/program/holdfast-cli";
import type { HoldfastProcess } from "../support/program/holdfast-process";
import { describeWithPostgres, describeWithRedis } from "../support/servers/servers";
import { loadSqlite } from "../../src/infrastructure/persistence/sqlite/sqlite-driver";

/**
 * What the built program is put together from, seen from outside: each part is shown by what only that part can do.
 * `npm run planted:composition` exchanges each of them for one that does nothing, and expects a test here to fail.
 */

const CALLERS = 10;
/** Long enough that all callers are there while the first one is at the gateway. */
const SLOW_MS = 1_000;
const LOOK_EVERY_MS = 100;
const MOST_LOOKS = 150;
/** As long as the first caller is at the gateway, and a little more. */
const LOOKS_AT_THE_LINE = 20;

jest.setTimeout(120_000);

const { version } = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8")) as {
  version: string;
};

interface Answer {
  readonly status: number;
  // What a server sent is not known before it was looked at.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly body: any;
}

const holdfast = new HoldfastCli();
const running: HoldfastProcess[] = [];

async function endServers(): Promise<void> {
  await Promise.all(running.splice(0).map((server) => server.end("SIGKILL")));
}

afterEach(endServers);

async function start(flags: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<HoldfastProcess> {
  const server = holdfast.start(["serve", "--port", "0", "--shutdown-delay", "0", ...flags], env);
  running.push(server);
  await server.url();
  return server;
}

async function call(url: string, path: string, key?: string, body?: object): Promise<Answer> {
  const response = await fetch(url + path, {
    ...(key === undefined
      ? {}
      : {
          method: "POST",
          headers: { "Content-Type": "application/json", "Idempotency-Key": key },
          body: JSON.stringify(body ?? {}),
        }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") === true;
  return { status: response.status, body: isJson ? JSON.parse(text) : text };
}

async function authorized(url: string, paymentMethod: string): Promise<string> {
  const wanted = { amount: 1250, currency: "EUR", paymentMethod };
  const { status, body } = await call(url, "/payments", `new-${Math.random()}`, wanted);
  expect(status).toBe(201);
  return String(body.payment.id);
}

/** Looks until what is seen is what is waited for, or returns the last look. */
async function until<T>(
  look: () => Promise<T>,
  isIt: (seen: T) => boolean,
  mostLooks = MOST_LOOKS,
): Promise<T> {
  let seen = await look();
  for (let looks = 0; looks < mostLooks && !isIt(seen); looks += 1) {
    await pause(LOOK_EVERY_MS);
    seen = await look();
  }
  return seen;
}

/** Ten callers with keys of their own capture one payment at a slow gateway, all at once. */
async function captureTogether(url: string) {
  const paymentId = await authorized(url, `tok_slow_${SLOW_MS}`);
  const capturing = Array.from({ length: CALLERS }, (_, n) =>
    call(url, `/payments/${paymentId}/capture`, `capture-${n}`),
  );
  const line = await until(
    async () => (await call(url, "/locks")).body.data as { resourceId: string; waiting: number }[],
    ([first]) => first?.waiting === CALLERS - 1,
    LOOKS_AT_THE_LINE,
  );
  const answers = await Promise.all(capturing);
  const codes = answers.map(({ status, body }) => (status === 201 ? "captured" : String(body.code))).sort();
  return { paymentId, line, codes };
}

/** What only a lock can bring about. Without one, the others meet an open capture and are refused at once. */
async function expectThatALockExcludes(url: string): Promise<void> {
  const { paymentId, line, codes } = await captureTogether(url);
  expect(line).toMatchObject([{ resourceId: `payment:${paymentId}`, waiting: CALLERS - 1 }]);
  expect(codes).toEqual([
    "captured",
    ...Array.from({ length: CALLERS - 1 }, () => "payment_already_captured"),
  ]);
}

describe("the built server, with each kind of lock", () => {
  it("memory: lets callers wait in line, and the server counts and logs its locks, and those of its sandboxes", async () => {
    const server = await start(["--store", "memory:", "--locks", "memory:", "--log-level", "trace"]);
    const url = await server.url();
    const held = async (): Promise<number> => {
      const text = String((await call(url, "/metrics")).body);
      const line = /^holdfast_lock_hold_seconds_count\{adapter="memory",scope="payment"\} (\d+)$/m.exec(text);
      return Number(line?.[1] ?? 0);
    };
    const paymentId = await authorized(url, "tok_ok");
    const createdAt = String((await call(url, `/payments/${paymentId}`)).body.payment.createdAt);
    expect(Math.abs(Date.parse(createdAt) - Date.now())).toBeLessThan(60_000);
    expect(await held()).toBe(1);
    const sandbox = await call(url, "/sandboxes", "sandbox-1", {});
    expect(sandbox.status).toBe(201);
    await authorized(`${url}/sandboxes/${sandbox.body.sandbox.id}`, "tok_ok");
    expect(await held()).toBe(2);
    await server.said(/"resourceId":"payment:/);
    expect(String((await call(url, "/metrics")).body)).toMatch(
      /^holdfast_lock_wait_seconds_count\{adapter="memory-lease",scope="sandbox"\} [1-9]/m,
    );
    await expectThatALockExcludes(url);
    expect((await call(url, "/openapi.json")).body.info.version).toBe(version);
  });

  it("file: lets callers wait in line, and another process finds the lock taken", async () => {
    const directory = join(holdfast.folder, "locks");
    const server = await start(["--store", "memory:", "--locks", `file:${directory}`]);
    const url = await server.url();
    const together = captureTogether(url);
    const listing = async (): Promise<string> =>
      (await holdfast.run(["locks", "list", "--locks", `file:${directory}`])).stdout;
    expect(await until(listing, (stdout) => stdout.includes("payment:"))).toContain(String(server.pid));
    const { codes } = await together;
    expect(codes.filter((code) => code === "payment_already_captured")).toHaveLength(CALLERS - 1);
  });

  it("gs: lets callers wait in line, its record is in the bucket, and the server is not ready while its locks do not answer", async () => {
    const standIn = await GcsStandIn.start({ buckets: ["locks"] });
    const env = { STORAGE_EMULATOR_HOST: standIn.url };
    const server = await start(["--store", "memory:", "--locks", "gs://locks/held"], env);
    const url = await server.url();
    try {
      await expectThatALockExcludes(url);
      const names = [...standIn.state.objectsOf("locks").keys()];
      expect(names.some((name) => name.startsWith("held/payment:"))).toBe(true);
      expect((await call(url, "/readyz")).status).toBe(200);
    } finally {
      await standIn.close();
    }
    const seen = await until(
      () => call(url, "/readyz"),
      ({ status }) => status === 503,
    );
    expect(seen.body.dependencies.locks).toBe("down");
  });

  it("none: excludes nobody, so that what the others are held to cannot be had without a lock", async () => {
    const server = await start(["--store", "memory:", "--locks", "none:", "--allow-unlocked"]);
    const { line, codes } = await captureTogether(await server.url());
    expect(line).toEqual([]);
    expect(codes).toContain("capture_in_progress");
  });

  describeWithPostgres("on PostgreSQL", (postgres) => {
    // Before the block looks for connections that were left open.
    afterEach(endServers);

    it("postgres: lets callers of two servers wait for each other", async () => {
      const flags = ["--store", postgres.url];
      const [one, other] = [await start(flags), await start(flags)];
      await expectThatALockExcludes(await one.url());
      const paymentId = await authorized(await one.url(), `tok_slow_${SLOW_MS}`);
      const answers = await Promise.all(
        [one, other, one, other].map(async (server, n) =>
          call(await server.url(), `/payments/${paymentId}/capture`, `capture-${n}`),
        ),
      );
      expect(answers.map(({ body }) => body.code as unknown).filter(Boolean)).toEqual(
        Array.from({ length: 3 }, () => "payment_already_captured"),
      );
    });

    it("a server that is started again on the same database knows its payments", async () => {
      const first = await start(["--store", postgres.url]);
      const paymentId = await authorized(await first.url(), "tok_ok");
      await first.end("SIGTERM");
      const second = await start(["--store", postgres.url]);
      expect((await call(await second.url(), `/payments/${paymentId}`)).status).toBe(200);
    });
  });

  describeWithRedis("on Redis", (redis) => {
    it("redis: lets callers wait in line", async () => {
      const server = await start(["--store", "memory:", "--locks", redis.url]);
      await expectThatALockExcludes(await server.url());
    });
  });
});

describe("the built server, part by part", () => {
  const sqlite = (): string => `sqlite:${join(holdfast.folder, "holdfast.db")}`;

  it("keeps a second server off its data, and lets go of it when it ends; keeps payments, and what the gateway did, over a restart", async () => {
    // Without sandboxes, whose snapshots have a lock of their own.
    const flags = ["--store", sqlite(), "--sandbox-limit", "0"];
    const first = await start(flags);
    const paymentId = await authorized(await first.url(), "tok_ok");
    await call(await first.url(), `/payments/${paymentId}/capture`, "capture-1");
    await expect(start(flags)).rejects.toThrow(String(first.pid));
    await first.end("SIGTERM");
    const second = await start(flags);
    const url = await second.url();
    expect((await call(url, `/payments/${paymentId}`)).body.payment.status).toBe("captured");
    const { moves } = (await call(url, `/gateway/payments/${paymentId}`)).body as {
      moves: readonly { kind: string }[];
    };
    expect(moves.map(({ kind }) => kind)).toEqual(["authorize", "capture"]);
  });

  it("finishes by itself what a silent gateway left open, and lets an authorization go by itself when its time is over", async () => {
    const first = await start(["--store", sqlite(), "--pass-interval", "0"]);
    const lapsing = await authorized(await first.url(), "tok_ok");
    await first.end("SIGTERM");
    const { DatabaseSync } = loadSqlite();
    const file = new DatabaseSync(join(holdfast.folder, "holdfast.db"));
    file.exec(`UPDATE payments SET expires_at = created_at - 3600000`);
    file.close();
    const second = await start(["--store", sqlite(), "--pass-interval", "1"]);
    const url = await second.url();
    const silent = await authorized(url, "tok_timeout_not_captured");
    expect((await call(url, `/payments/${silent}/capture`, "capture-1")).status).toBe(202);
    const statuses = () =>
      Promise.all(
        [silent, lapsing].map(async (id) => String((await call(url, `/payments/${id}`)).body.payment.status)),
      );
    const isOver = (seen: readonly string[]) => seen.join() === "captured,expired";
    expect(await until(statuses, isOver)).toEqual(["captured", "expired"]);
  });

  it("keeps callers apart in a sandbox, and its snapshots over a restart", async () => {
    const flags = ["--store", "memory:", "--snapshots", `file:${join(holdfast.folder, "snapshots")}`];
    const first = await start(flags);
    const { body } = await call(await first.url(), "/sandboxes", "sandbox-1", {});
    const path = `/sandboxes/${body.sandbox.id}`;
    const paymentId = await authorized((await first.url()) + path, "tok_slow_500");
    const answers = await Promise.all(
      ["a", "b", "c"].map(async (key) =>
        call((await first.url()) + path, `/payments/${paymentId}/capture`, key),
      ),
    );
    expect(answers.map(({ body }) => body.code as unknown).filter(Boolean)).toEqual([
      "payment_already_captured",
      "payment_already_captured",
    ]);
    await first.end("SIGTERM");
    const second = await start(flags);
    const kept = await call((await second.url()) + path, `/payments/${paymentId}`);
    expect(kept.body.payment?.status).toBe("captured");
  });

  it("knows the keys that were made for it, and asks for one from then on", async () => {
    const made = await holdfast.run(["keys", "create", "--merchant", "acme", "--store", sqlite()]);
    expect(made.status).toBe(0);
    const server = await start(["--store", sqlite()]);
    expect((await call(await server.url(), "/payments")).status).toBe(401);
  });

  it("waits for a lock as long as it was told to", async () => {
    const server = await start(["--store", "memory:", "--lock-timeout", "0"]);
    const { codes } = await captureTogether(await server.url());
    expect(codes.filter((code) => code === "lock_timeout")).toHaveLength(CALLERS - 1);
  });
});
