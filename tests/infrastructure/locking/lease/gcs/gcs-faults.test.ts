import { GcsLockProvider } from "../../../../../src/infrastructure/locking/lease/gcs/gcs-lock-provider";
import { GcsLeaseRecordStore } from "../../../../../src/infrastructure/locking/lease/gcs/gcs-lease-record-store";
import { TransientLeaseStoreError } from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import type { LeaseSettings } from "../../../../../src/infrastructure/locking/lease/protocol/lease-settings";
import { GcsStandIn } from "../../../../support/gcs-stand-in/gcs-stand-in";
import { systemLockClock } from "../../../../../src/infrastructure/locking/lock-clock";
import { systemLeaseEnvironment } from "../../../../../src/infrastructure/locking/lease/protocol/lease-environment";

jest.setTimeout(60_000);

const LEASE: Partial<LeaseSettings> = { requestTimeoutMs: 1_000 };

let skewMs: number;
let standIn: GcsStandIn;
let locks: GcsLockProvider;

beforeEach(async () => {
  skewMs = 0;
  standIn = await GcsStandIn.start({ buckets: ["locks"], now: () => Date.now() + skewMs });
  locks = provider();
});

afterEach(async () => {
  await locks.close();
  await standIn.close();
});

function provider(lease = LEASE, wallSkewMs = 0): GcsLockProvider {
  const clock = { ...systemLockClock, wallMs: () => Date.now() + wallSkewMs };
  const environment = { ...systemLeaseEnvironment, clock };
  return new GcsLockProvider("gs://locks/a", { emulatorHost: standIn.url, lease, environment });
}

function openSockets(): number {
  const port = Number(new URL(standIn.url).port);
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  return handles.filter((handle) => (handle as { remotePort?: number }).remotePort === port).length;
}

async function quiet(): Promise<void> {
  while (locks.size > 0) await new Promise((resolve) => setTimeout(resolve, 5));
}

const stored = (): { ownerId: string | null; fence: number } =>
  JSON.parse(standIn.state.objectsOf("locks").get("a/job.json")?.content.toString() ?? "null") as never;

describe("a body that stalls", () => {
  test.each(["object.media", "object.insert", "object.list"] as const)(
    "a body that stalls of %s ends at the request's bound, and its socket with it",
    async (operation) => {
      const store = new GcsLeaseRecordStore({
        bucket: "locks",
        prefix: "a/",
        emulatorHost: standIn.url,
        requestTimeoutMs: 300,
      });
      await locks.withLock("job", async () => undefined);
      await locks.close();
      const record = (await store.read("job"))!;
      standIn.faults.next(operation, { kind: "tear", then: "stall" });
      const request = {
        "object.media": () => store.read("job"),
        "object.insert": () => store.write("job", record.record, record.version),
        "object.list": () => store.checkBucket(),
      }[operation];
      await expect(request()).rejects.toBeInstanceOf(TransientLeaseStoreError);
      // Not closed yet: what is left then is the connection that is kept for the next request, or none.
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(openSockets()).toBe(0);
      store.close();
    },
  );
});

test("one lost answer costs the length of one request, and not the whole budget", async () => {
  standIn.faults.next("object.insert", { kind: "stall-answer" });
  await expect(locks.withLock("job", async () => "in", { timeout: 1_900 })).resolves.toBe("in");
});

test("an answer that was cut short, and says that it is whole, is no damaged record", async () => {
  await locks.withLock("job", async () => undefined);
  await quiet();
  const other = provider();
  standIn.faults.next("object.media", { kind: "cut", bytes: 40 });
  await expect(other.withLock("job", async () => "in", { timeout: 10_000 })).resolves.toBe("in");
  await other.close();
});

describe("an answer that is not of the service", () => {
  test.each([
    ["nothing at all", ""],
    ["a page", "<html>Sign in</html>"],
    ["what is no object", "null"],
  ])("%s, is a failed request like any other, and said to be one", async (_, content) => {
    const store = new GcsLeaseRecordStore({ bucket: "locks", prefix: "a/", emulatorHost: standIn.url });
    await locks.withLock("job", async () => undefined, { release: "await" });
    const { record, version } = (await store.read("job"))!;
    const requests = {
      "object.media": () => store.read("job"),
      "object.get": () => store.ageMs("job", version),
      "object.insert": () => store.write("job", record, version),
      "object.list": () => store.checkBucket(),
    };
    for (const [operation, request] of Object.entries(requests)) {
      standIn.faults.next(operation as keyof typeof requests, { kind: "page", status: 200, content });
      const failure: unknown = await request().catch((error: unknown) => error);
      expect(failure).toBeInstanceOf(TransientLeaseStoreError);
      expect((failure as Error).message).toMatch(/^cannot .* gs:\/\/locks\/a\/.*: the answer /);
    }
    store.close();
  });
});

describe("a release", () => {
  test.each([
    ["a refusal", { kind: "answer", status: 401 }],
    ["a page in place of an answer", { kind: "page", status: 200, content: "<html>Sign in</html>" }],
    ["a refusal by a page", { kind: "page", status: 403, content: "<html>Blocked</html>" }],
    ["nothing at all", { kind: "page", status: 200, content: "" }],
  ] as const)("a release that is answered once by %s is sent again", async (_, fault) => {
    standIn.faults.next("object.insert", fault, { body: /"ownerId":null/ });
    await locks.withLock("job", async () => undefined);
    await quiet();
    expect(stored().ownerId).toBeNull();
  });
});

describe("the fence over a lost record", () => {
  test("the fence over a lost record is by the service's clock, whatever those of the processes say", async () => {
    const token = ({ fencingToken }: { fencingToken: bigint }): Promise<bigint> =>
      Promise.resolve(fencingToken);
    const [ahead, behind] = [provider(LEASE, 3_600_000), provider(LEASE, -3_600_000)];
    const first = await ahead.withLock("job", token);
    await ahead.close();
    standIn.state.objectsOf("locks").delete("a/job.json");
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    expect(await behind.withLock("job", token)).toBeGreaterThan(first);
    await behind.close();
  });

  test("the fence over a lost record is by the service's clock with the first claim already, when this machine's is wrong", async () => {
    skewMs = 3_600_000;
    const token = await locks.withLock("job", ({ fencingToken }) => Promise.resolve(fencingToken));
    expect(Math.abs(Number(token) - Date.now() - skewMs)).toBeLessThan(5_000);
    await quiet();
    expect(BigInt(stored().fence)).toBe(token);
  });
});
