import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { LockTimeoutError, LockUnavailableError } from "../../../../../src/application/ports/lock-errors";
import { GcsLockProvider } from "../../../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { PermanentLeaseStoreError } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import type { LockEvent } from "../../../../../src/application/ports/lock-observer";
import { Gate } from "../../../../support/fakes/gate";
import { GcsStandIn } from "../../../../support/gcs-stand-in/gcs-stand-in";

let standIn: GcsStandIn;
let opened: GcsLockProvider[];

// The first request loads what the client library needs, and on a busy machine that takes longer than a request may.
beforeAll(async () => {
  const [warm, locks] = [await GcsStandIn.start({ buckets: ["locks"] }), "gs://locks/warm"];
  const first = new GcsLockProvider(locks, { emulatorHost: warm.url });
  await first.withLock("first", async () => undefined);
  await first.close();
  await warm.close();
});

beforeEach(async () => {
  standIn = await GcsStandIn.start({ buckets: ["locks"] });
  opened = [];
});

afterEach(async () => {
  await Promise.all(opened.map((provider) => provider.close()));
  await standIn.close();
});

function provider(options: ConstructorParameters<typeof GcsLockProvider>[1] = {}): GcsLockProvider {
  const made = new GcsLockProvider("gs://locks/jobs", { emulatorHost: standIn.url, ...options });
  opened.push(made);
  return made;
}

const neverRuns = () => Promise.reject(new Error("a section began that must not have begun"));
const put = (id: string, content: string) =>
  standIn.state.insert("locks", `jobs/${id}.json`, Buffer.from(content), { contentType: "application/json" });
const stored = (id: string) =>
  standIn.state.objectsOf("locks").get(`jobs/${id}.json`)?.content.toString() ?? "nothing";
/** Without those that came too soon after the one before, which on a busy machine some do: they are repeated. */
const operations = () =>
  standIn.log.requests.filter(({ status }) => status !== 429).map(({ operation }) => operation);

/** Lets the provider finish what goes on behind the answer. */
async function quiet(locks: GcsLockProvider): Promise<void> {
  while (locks.size > 0) await new Promise((resolve) => setTimeout(resolve, 1));
}

describe("requests, counted at the socket", () => {
  test("a cycle on an id that was never locked, or last by us, is two", async () => {
    const locks = provider();
    for (let cycle = 1; cycle <= 3; cycle += 1) {
      await locks.withLock("nightly", async (hold) => hold.assertHeld());
      await quiet(locks);
      expect(operations()).toEqual(Array(2 * cycle).fill("object.insert"));
    }
  });

  test("a cycle after another process is four", async () => {
    const other = provider();
    await other.withLock("nightly", async () => undefined);
    await quiet(other);
    standIn.log.clear();
    const locks = provider();
    await locks.withLock("nightly", async () => undefined);
    await quiet(locks);
    expect(operations()).toEqual(["object.insert", "object.media", "object.insert", "object.insert"]);
  });

  test("a renewal is one", async () => {
    const locks = provider({ lease: { ttlMs: 1_000 } });
    const renewed = new Gate();
    const observer = { notify: ({ type }: LockEvent) => void (type === "renewed" && renewed.open()) };
    await locks.withLock("nightly", () => standIn.log.reached("object.insert", 2), { observer });
    await quiet(locks);
    expect(operations()).toEqual(Array(3).fill("object.insert"));
  });

  test("a hold that ends before its first renewal sends nothing in between, and refusing the impatient costs nothing", async () => {
    const locks = provider();
    const [inside, leave] = [new Gate(), new Gate()];
    const held = locks.withLock("nightly", () => {
      inside.open();
      return leave.passed;
    });
    await inside.passed;
    await expect(locks.withLock("nightly", neverRuns, { timeout: 0 })).rejects.toBeInstanceOf(
      LockTimeoutError,
    );
    expect(standIn.log.count()).toBe(1);
    leave.open();
    await held;
    await quiet(locks);
    expect(standIn.log.count()).toBe(2);
  });

  test("the client is loaded when a provider is made, not with the module", () => {
    const script = `
      const { GcsLockProvider } = require(${JSON.stringify(
        join(__dirname, "../../../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider.ts"),
      )});
      const loaded = () => Object.keys(require.cache).some((path) => path.includes("@google-cloud"));
      const before = loaded();
      new GcsLockProvider("gs://locks", { emulatorHost: "127.0.0.1:1" });
      console.log(JSON.stringify([before, loaded()]));`;
    const output = execFileSync(process.execPath, ["-r", require.resolve("esbuild-register"), "-e", script], {
      encoding: "utf8",
    });
    expect(JSON.parse(output)).toEqual([false, true]);
  });
});

describe("one change per second and object", () => {
  beforeEach(() => (standIn.state.limitMutations = true));

  test("the caller has its answer at once; the release waits for its second, and the next caller for the release", async () => {
    const locks = provider();
    await expect(locks.withLock("nightly", async () => "done")).resolves.toBe("done");
    expect(JSON.parse(stored("nightly")).ownerId).not.toBeNull();
    await expect(locks.withLock("nightly", async () => "again", { timeout: 10_000 })).resolves.toBe("again");
  });

  test("whoever cannot register in time because of it is told that the lock is held, not that the service failed", async () => {
    const [inside, leave] = [new Gate(), new Gate()];
    const held = provider().withLock("nightly", () => {
      inside.open();
      return leave.passed;
    });
    await inside.passed;
    // Less than the pause after a 429, and enough for a slow machine to ask once.
    const refused = provider().withLock("nightly", neverRuns, { timeout: 900 });
    await expect(refused).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(refused).rejects.toThrow(`pid ${process.pid}`);
    leave.open();
    await held;
  });

  test("the first write never waits", async () => {
    const locks = provider();
    // On a busy machine the first renewal may have been due before the section began.
    await locks.withLock("one", async () =>
      expect(standIn.log.requests[0]).toMatchObject({ operation: "object.insert", status: 200 }),
    );
    standIn.log.clear();
    await locks.withLock("two", async () => {
      const ofTwo = standIn.log.requests.filter(({ object }) => object === "jobs/two.json");
      expect(ofTwo[0]).toMatchObject({ operation: "object.insert", status: 200 });
    });
  });
});

describe("answers that are lost", () => {
  test("a claim that was applied without an answer is found by reading, and entered", async () => {
    standIn.faults.next("object.insert", { kind: "lose-answer" });
    const locks = provider();
    await expect(locks.withLock("nightly", async () => "inside", { timeout: 5_000 })).resolves.toBe("inside");
    await quiet(locks);
    expect(JSON.parse(stored("nightly"))).toMatchObject({ ownerId: null, waitingOwnerId: null });
  });

  test("a claim that was doubled on the way is no rival", async () => {
    standIn.faults.next("object.insert", { kind: "double", answer: "second" });
    const locks = provider();
    await expect(locks.withLock("nightly", async () => "inside", { timeout: 5_000 })).resolves.toBe("inside");
  });

  test("a caller that is told no leaves nothing behind, though its claim lands after it has gone", async () => {
    const land = new Gate();
    standIn.faults.next("object.insert", { kind: "land-late", until: land.passed });
    const locks = provider();
    await expect(locks.withLock("nightly", neverRuns, { timeout: 0 })).rejects.toBeInstanceOf(
      LockUnavailableError,
    );
    land.open();
    await locks.close();
    expect(JSON.parse(stored("nightly"))).toMatchObject({ ownerId: null, waitingOwnerId: null });
  });
});

describe("what others put there", () => {
  test("a live lock of another implementation is respected, and its owner named", async () => {
    put(
      "nightly",
      JSON.stringify({ ownerId: "python-1", expiresAt: Date.now() / 1000 + 60, waitingOwnerId: null }),
    );
    const refused = provider().withLock("nightly", neverRuns, { timeout: 0 });
    await expect(refused).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(refused).rejects.toThrow("python-1");
    expect(JSON.parse(stored("nightly")).ownerId).toBe("python-1");
  });

  test("a dead one is taken when it has expired by the storage's clock and stood still for long enough", async () => {
    put(
      "nightly",
      JSON.stringify({ ownerId: "python-1", expiresAt: Date.now() / 1000 - 60, waitingOwnerId: null }),
    );
    const locks = provider({ lease: { foreignQuietMs: 300 } });
    const token = await locks.withLock("nightly", async (hold) => hold.fencingToken, { timeout: 10_000 });
    expect(token).toBeGreaterThan(0n);
  });

  test("one that has not expired is not taken, however long it stands still", async () => {
    const foreign = JSON.stringify({
      ownerId: "python-1",
      expiresAt: Date.now() / 1000 + 600,
      waitingOwnerId: null,
    });
    put("nightly", foreign);
    const locks = provider({ lease: { foreignQuietMs: 50 } });
    await expect(locks.withLock("nightly", neverRuns, { timeout: 400 })).rejects.toBeInstanceOf(
      LockTimeoutError,
    );
    await locks.close();
    expect(JSON.parse(stored("nightly"))).toMatchObject({ ownerId: "python-1", waitingOwnerId: null });
  });

  test("a free one is taken, its four fields stay true for its own readers", async () => {
    put(
      "nightly",
      JSON.stringify({ ownerId: null, expiresAt: 0, waitingOwnerId: null, waiterExpiresAt: null }),
    );
    const locks = provider();
    await locks.withLock("nightly", async () => {
      const { ownerId, expiresAt } = JSON.parse(stored("nightly"));
      expect(ownerId).toContain(`:${process.pid}:`);
      expect(expiresAt * 1000).toBeGreaterThan(Date.now());
    });
    await quiet(locks);
    expect(JSON.parse(stored("nightly"))).toMatchObject({ ownerId: null, expiresAt: 0 });
  });

  test.each(["hello", "{}", '{"ownerId":7}', "", '{"ownerId":"a","expiresAt":1,"ttlMs":"long"}'])(
    "%j counts as held, is told in words at once, and stays as it is",
    async (content) => {
      put("nightly", content);
      const refused = provider().withLock("nightly", neverRuns, { timeout: 10_000 });
      await expect(refused).rejects.toBeInstanceOf(LockUnavailableError);
      await expect(refused).rejects.toThrow("not a lease record");
      expect(stored("nightly")).toBe(content);
    },
  );
});

describe("a store that refuses", () => {
  test("a missing bucket is told at once, on opening and on locking, and is no contention", async () => {
    const options = { emulatorHost: standIn.url };
    await expect(GcsLockProvider.open("gs://none", options)).rejects.toBeInstanceOf(PermanentLeaseStoreError);
    const locks = new GcsLockProvider("gs://none", options);
    opened.push(locks);
    const refused = locks.withLock("nightly", neverRuns, { timeout: "infinite" });
    await expect(refused).rejects.toBeInstanceOf(LockUnavailableError);
    await expect(refused).rejects.toThrow("there is no bucket none");
  });

  test("a refused permission is told at once, and names the role", async () => {
    standIn.faults.next(
      ["object.insert", "object.media", "object.list"],
      { kind: "answer", status: 403 },
      { times: 9 },
    );
    const refused = provider().withLock("nightly", neverRuns, { timeout: "infinite" });
    await expect(refused).rejects.toThrow("roles/storage.objectUser");
    await expect(GcsLockProvider.open("gs://locks", { emulatorHost: standIn.url })).rejects.toThrow("roles/");
  });

  test("a service that answers 503 for a while is waited for", async () => {
    standIn.faults.next(["object.insert", "object.media"], { kind: "answer", status: 503 }, { times: 3 });
    await expect(provider().withLock("nightly", async () => "in", { timeout: 10_000 })).resolves.toBe("in");
  });

  test("a location in parts, with or without the slash, is the same as its URL", async () => {
    for (const [prefix, object] of [
      ["jobs", "jobs/nightly.json"],
      ["jobs/", "jobs/nightly.json"],
      ["", "nightly.json"],
    ] as const) {
      const locks = new GcsLockProvider({ bucket: "locks", prefix }, { emulatorHost: standIn.url });
      opened.push(locks);
      await locks.withLock("nightly", async () => undefined);
      expect(standIn.log.requests.at(-1)?.object).toBe(object);
      await quiet(locks);
    }
  });

  test("a location that is none is refused before anything is sent", () => {
    expect(() => new GcsLockProvider("gs://Not A Bucket")).toThrow(RangeError);
  });
});
