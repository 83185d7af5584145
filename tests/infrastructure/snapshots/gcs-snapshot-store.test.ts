import { SnapshotStoreError } from "../../../src/application/ports/snapshot-store";
import { GcsSnapshotStore } from "../../../src/infrastructure/snapshots/gcs-snapshot-store";
import { GcsStandIn } from "../../support/gcs-stand-in/gcs-stand-in";

/** As often as one request is sent. */
const TRIES = 3;
const BYTES = Buffer.from(Array.from({ length: 4_000 }, (_, index) => index % 256));

let standIn: GcsStandIn;
let store: GcsSnapshotStore;

beforeEach(async () => {
  standIn = await GcsStandIn.start({ buckets: ["snapshots"] });
  store = new GcsSnapshotStore({
    bucket: "snapshots",
    prefix: "sandboxes/",
    emulatorHost: standIn.url,
    requestTimeoutMs: 300,
  });
});

afterEach(() => standIn.close());

/** Those that would keep the process from ending. */
function openSockets(): number {
  const port = Number(new URL(standIn.url).port);
  const handles = (process as unknown as { _getActiveHandles(): object[] })._getActiveHandles();
  return handles.filter((handle) => (handle as { remotePort?: number }).remotePort === port).length;
}

describe("an answer that stalls in its middle", () => {
  const requests: Record<string, ["object.media" | "object.insert" | "object.list", () => Promise<unknown>]> =
    {
      "a snapshot that is read": ["object.media", () => store.readSnapshot("s", "one")],
      "a manifest that is read": ["object.media", () => store.readManifest("s")],
      "a snapshot that is written": ["object.insert", () => store.putSnapshot("s", "two", BYTES)],
      "a manifest that is written": ["object.insert", () => store.writeManifest("s", "{}", "absent")],
      "a list": ["object.list", () => store.snapshotNames("s")],
    };

  test.each(Object.keys(requests))(
    "an answer that stalls in its middle ends at the request's bound, and its socket with it: %s",
    async (name) => {
      const [operation, request] = requests[name]!;
      await store.putSnapshot("s", "one", BYTES);
      if (operation === "object.media") await store.writeManifest("s", '{"a":1}', "absent");
      standIn.faults.next(operation, { kind: "tear", then: "stall" }, { times: TRIES });
      await expect(request()).rejects.toBeInstanceOf(SnapshotStoreError);
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(openSockets()).toBe(0);
    },
  );
});

test("a removal that is never answered leaves no socket either", async () => {
  await store.putSnapshot("s", "one", BYTES);
  standIn.faults.next("object.delete", { kind: "stall" }, { times: TRIES });
  await expect(store.removeSnapshot("s", "one")).rejects.toBeInstanceOf(SnapshotStoreError);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(openSockets()).toBe(0);
});

test("a snapshot of which only a part came, and that says it is whole, is read again", async () => {
  await store.putSnapshot("s", "one", BYTES);
  standIn.faults.next("object.media", { kind: "cut", bytes: 1_000 });
  expect(Buffer.from((await store.readSnapshot("s", "one")) ?? [])).toEqual(BYTES);
});

test("any bytes are kept as they are", async () => {
  const tricky = Buffer.concat([BYTES, Buffer.from("\r\n--holdfast-lease-record--\r\n"), BYTES]);
  await store.putSnapshot("s", "tricky", tricky);
  expect(Buffer.from((await store.readSnapshot("s", "tricky")) ?? [])).toEqual(tricky);
  await store.putSnapshot("s", "empty", Buffer.alloc(0));
  expect(Buffer.from((await store.readSnapshot("s", "empty")) ?? [1])).toEqual(Buffer.alloc(0));
});
