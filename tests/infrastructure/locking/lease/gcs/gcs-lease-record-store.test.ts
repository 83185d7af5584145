import { GcsLeaseRecordStore } from "../../../../../src/infrastructure/locking/lease/gcs/gcs-lease-record-store";
import {
  UnreadableLeaseRecordError,
  type LeaseRecord,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record";
import {
  PermanentLeaseStoreError,
  recordVersion,
  TransientLeaseStoreError,
  type RecordVersion,
} from "../../../../../src/infrastructure/locking/lease/protocol/lease-record-store";
import { GcsStandIn } from "../../../../support/gcs-stand-in/gcs-stand-in";

const RECORD: LeaseRecord = {
  ownerId: "web-2:4711:n1",
  expiresAt: 1_893_456_000.25,
  waitingOwnerId: null,
  waiterExpiresAt: null,
  ttlMs: 15_000,
  renewSeq: 0,
  fence: 1_893_455_985_001,
  ownerAgeMs: 0,
  holder: { host: "web-2", pid: 4711, operation: "capture", since: 1_893_455_985 },
};

const OBJECT = "jobs/nightly.json";

let now: number;
let standIn: GcsStandIn;
let store: GcsLeaseRecordStore;

beforeEach(async () => {
  now = Date.UTC(2030, 0, 1, 0, 0, 0, 750);
  standIn = await GcsStandIn.start({ buckets: ["locks"], now: () => now, generations: "shuffled" });
  store = storeIn("locks");
});

afterEach(() => standIn.close());

const storeIn = (bucket: string) =>
  new GcsLeaseRecordStore({ bucket, prefix: "jobs/", emulatorHost: standIn.url, requestTimeoutMs: 300 });

async function created(): Promise<RecordVersion> {
  const version = await store.write("nightly", RECORD, "absent");
  if (version === "conflict") throw new Error("was there already");
  return version;
}

const put = (content: string, contentType = "application/json") =>
  standIn.state.insert("locks", OBJECT, Buffer.from(content), { contentType });

describe("requests", () => {
  test.each([
    ["ahead, at the beginning of a second", 900, 0],
    ["behind, at the end of a second", -900, 999],
  ])(
    "the first claim of a process is one request, also where the service's clock is 0.9 s %s",
    async (_, aheadMs, millisecond) => {
      now = Date.UTC(2030, 0, 1, 0, 0, 0, millisecond);
      const clock = jest.spyOn(Date, "now").mockReturnValue(now - aheadMs);
      try {
        const claimed = await store.claim("nightly", RECORD, "absent");
        expect(claimed).toEqual({ version: expect.anything(), fence: expect.any(Number) });
        expect(standIn.log.requests.map(({ operation }) => operation)).toEqual(["object.insert"]);
      } finally {
        clock.mockRestore();
      }
    },
  );

  test("creating, reading, replacing and removing a record are one request each", async () => {
    const version = await created();
    const found = await store.read("nightly");
    expect(found).toEqual({ record: RECORD, version, storeNowMs: Math.floor(now / 1_000) * 1_000 });
    const next = await store.write("nightly", { ...RECORD, renewSeq: 1 }, version);
    await store.remove("nightly", next as RecordVersion);
    expect(standIn.log.requests.map(({ operation }) => operation)).toEqual([
      "object.insert",
      "object.media",
      "object.insert",
      "object.delete",
    ]);
    expect(standIn.state.objectsOf("locks").size).toBe(0);
  });

  test("no request is repeated behind the protocol's back, whatever went wrong", async () => {
    for (const fault of [
      { kind: "answer", status: 503 },
      { kind: "reset" },
      { kind: "lose-answer" },
    ] as const) {
      standIn.log.clear();
      standIn.faults.next("object.insert", fault);
      await expect(store.write("nightly", RECORD, "absent")).rejects.toBeInstanceOf(TransientLeaseStoreError);
      expect(standIn.log.requests).toHaveLength(1);
    }
  });

  test("an answer with a wrong checksum does not make the client delete the record of somebody else", async () => {
    standIn.faults.next("object.insert", { kind: "wrong-checksum" });
    await store.write("nightly", RECORD, "absent");
    expect(standIn.log.requests.map(({ operation }) => operation)).toEqual(["object.insert"]);
  });

  test("the record is stored so that no cache on the way may keep it", async () => {
    let uploaded = "";
    const insert = standIn.state.insert.bind(standIn.state);
    standIn.state.insert = (...args) => {
      uploaded = JSON.stringify(args[3]);
      return insert(...args);
    };
    await created();
    expect(JSON.parse(uploaded)).toMatchObject({ contentType: "application/json", cacheControl: "no-store" });
  });

  test("the emulator variable in the environment is kept from the client, and kept for others", async () => {
    process.env["STORAGE_EMULATOR_HOST"] = "http://127.0.0.1:1";
    try {
      store = storeIn("locks");
      const version = await created();
      expect((await store.read("nightly"))?.version).toBe(version);
      expect(process.env["STORAGE_EMULATOR_HOST"]).toBe("http://127.0.0.1:1");
    } finally {
      delete process.env["STORAGE_EMULATOR_HOST"];
    }
  });

  test("an emulator host without a scheme is spoken to in plain HTTP", async () => {
    const emulatorHost = standIn.url.replace("http://", "");
    store = new GcsLeaseRecordStore({ bucket: "locks", prefix: "", emulatorHost });
    await expect(store.read("nightly")).resolves.toBeNull();
  });
});

describe("conflicts", () => {
  test("a record that is there, was changed, or is gone, is a conflict and stays as it is", async () => {
    const version = await created();
    await expect(store.write("nightly", RECORD, "absent")).resolves.toBe("conflict");
    const next = (await store.write("nightly", { ...RECORD, renewSeq: 1 }, version)) as RecordVersion;
    await expect(store.write("nightly", RECORD, version)).resolves.toBe("conflict");
    await store.remove("nightly", version);
    expect((await store.read("nightly"))?.version).toBe(next);
    await store.remove("nightly", next);
    await expect(store.write("nightly", RECORD, next)).resolves.toBe("conflict");
    await store.remove("nightly", next);
  });
});

describe("age", () => {
  test("age is what the storage's clock says, cut to the second, and never more than the truth", async () => {
    const version = await created();
    now += 12_900;
    await expect(store.ageMs("nightly", version)).resolves.toBe(12_250);
  });

  test("age is never negative", async () => {
    const version = await created();
    await expect(store.ageMs("nightly", version)).resolves.toBe(0);
  });

  test("age of a version that was replaced or removed is unknown", async () => {
    const version = await created();
    const next = (await store.write("nightly", RECORD, version)) as RecordVersion;
    await expect(store.ageMs("nightly", version)).resolves.toBeNull();
    await store.remove("nightly", next);
    await expect(store.ageMs("nightly", next)).resolves.toBeNull();
  });

  test("age is asked for by the very digits of the generation, more than a number holds", async () => {
    await expect(store.ageMs("nightly", recordVersion("9223372036854775807"))).resolves.toBeNull();
    expect(standIn.log.requests.at(-1)?.target).toContain("ifGenerationMatch=9223372036854775807");
  });
});

describe("failures", () => {
  test.each([429, 500, 502, 503, 504, 408])(
    "%d is transient, and 429 asks for fewer writes",
    async (status) => {
      standIn.faults.next(
        ["object.insert", "object.media", "object.delete", "object.get"],
        { kind: "answer", status },
        { times: 4 },
      );
      const attempts = [
        store.write("nightly", RECORD, "absent"),
        store.read("nightly"),
        store.remove("nightly", recordVersion(5)),
        store.ageMs("nightly", recordVersion(5)),
      ];
      for (const attempt of await Promise.allSettled(attempts))
        expect(attempt).toMatchObject({
          reason: expect.objectContaining({ name: "TransientLeaseStoreError", throttled: status === 429 }),
        });
    },
  );

  test.each([400, 401, 403])("%d is permanent, and says which object it is about", async (status) => {
    standIn.faults.next(["object.insert", "object.media"], { kind: "answer", status }, { times: 2 });
    for (const attempt of [() => store.write("nightly", RECORD, "absent"), () => store.read("nightly")]) {
      const failed = attempt();
      await expect(failed).rejects.toBeInstanceOf(PermanentLeaseStoreError);
      await expect(failed).rejects.toThrow(/gs:\/\/locks\/jobs\/nightly\.json/);
    }
  });

  test("403 says which role is missing, 401 where credentials come from", async () => {
    standIn.faults.next("object.media", { kind: "answer", status: 403 });
    await expect(store.read("nightly")).rejects.toThrow("roles/storage.objectUser");
    standIn.faults.next("object.media", { kind: "answer", status: 401 });
    await expect(store.read("nightly")).rejects.toThrow("GOOGLE_APPLICATION_CREDENTIALS");
  });

  test("a missing bucket is no free lock, but a permanent error in words", async () => {
    store = storeIn("none");
    for (const attempt of [
      () => store.read("nightly"),
      () => store.write("nightly", RECORD, "absent"),
      () => store.checkBucket(),
    ]) {
      const failed = attempt();
      await expect(failed).rejects.toBeInstanceOf(PermanentLeaseStoreError);
      await expect(failed).rejects.toThrow("there is no bucket none");
    }
  });

  test("the bucket is asked for once, and only where its absence could be mistaken", async () => {
    await store.read("one");
    await store.read("two");
    await store.read("three");
    expect(standIn.log.count("object.list")).toBe(1);
  });

  test("a download that breaks or stalls in the middle, or never begins, ends as unanswered", async () => {
    await created();
    for (const fault of [
      { kind: "tear", then: "reset" },
      { kind: "tear", then: "stall" },
      { kind: "stall" },
      { kind: "reset" },
    ] as const) {
      standIn.faults.next("object.media", fault);
      await expect(store.read("nightly")).rejects.toBeInstanceOf(TransientLeaseStoreError);
    }
    await expect(store.read("nightly")).resolves.toMatchObject({ record: RECORD });
  });

  test("a write without an answer may have been applied, and the next read tells", async () => {
    standIn.faults.next("object.insert", { kind: "stall-answer" });
    await expect(store.write("nightly", RECORD, "absent")).rejects.toBeInstanceOf(TransientLeaseStoreError);
    await expect(store.read("nightly")).resolves.toMatchObject({ record: { ownerId: RECORD.ownerId } });
  });
});

describe("what others put there", () => {
  test("the four fields of another implementation are read as such", async () => {
    put('{"ownerId":"other","expiresAt":1.5,"waitingOwnerId":null}');
    await expect(store.read("nightly")).resolves.toMatchObject({
      record: { ownerId: "other", expiresAt: 1.5, waitingOwnerId: null, waiterExpiresAt: null },
    });
  });

  test("a record under another content type is a record all the same", async () => {
    put(JSON.stringify(RECORD), "text/plain");
    await expect(store.read("nightly")).resolves.toMatchObject({ record: RECORD });
  });

  test.each([
    ["nothing at all", "", "application/json"],
    ["no JSON", "hello", "application/json"],
    ["no JSON, and says so", "hello", "text/plain"],
    ["a JSON array", "[]", "application/json"],
    ["an error in JSON", '{"error":{"code":404}}', "application/json"],
    ["something long", `{"ownerId":"${"x".repeat(70_000)}"}`, "application/json"],
    ["something long that begins like a record", JSON.stringify(RECORD).padEnd(70_000), "text/plain"],
    ["something binary", "\u0000\u0001\u0002", "application/octet-stream"],
  ])("%s is unreadable, and neither free nor fetched beyond reason", async (_, content, contentType) => {
    put(content, contentType);
    await expect(store.read("nightly")).rejects.toBeInstanceOf(UnreadableLeaseRecordError);
    // Part of the content at most: 206, or 416 where there is none.
    expect(standIn.log.requests.at(-1)?.status).not.toBe(200);
    await expect(store.write("nightly", RECORD, "absent")).resolves.toBe("conflict");
  });
});

test("the ids that have a record are listed, page by page, and nothing else", async () => {
  await store.write("a/b", RECORD, "absent");
  await store.write("nightly", RECORD, "absent");
  standIn.state.insert("locks", "elsewhere/x.json", Buffer.from("1"), {});
  standIn.state.insert("locks", "jobs/readme.txt", Buffer.from("1"), {});
  const found: string[] = [];
  for await (const id of store.resourceIds()) found.push(id);
  expect(found.sort()).toEqual(["a/b", "nightly"]);
});
