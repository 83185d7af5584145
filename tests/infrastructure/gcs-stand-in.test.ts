import { Storage, type File } from "@google-cloud/storage";
import { GcsStandIn } from "../support/gcs-stand-in/gcs-stand-in";

let standIn: GcsStandIn;
let storage: Storage;

beforeEach(async () => {
  standIn = await GcsStandIn.start({ buckets: ["locks"] });
  storage = clientOf(standIn.url);
});

afterEach(() => standIn.close());

const clientOf = (url: string) =>
  new Storage({ apiEndpoint: url, projectId: "p", timeout: 250, retryOptions: { autoRetry: false } });

const object = (name: string) => storage.bucket("locks").file(name);

/** Saves as the lock does: one request, conditional. */
async function save(file: File, content: string, ifGenerationMatch?: string | number): Promise<string> {
  await file.save(content, {
    resumable: false,
    validation: false,
    ...(ifGenerationMatch === undefined ? {} : { preconditionOpts: { ifGenerationMatch } }),
  });
  return String(file.metadata.generation);
}

const raw = (path: string, init?: RequestInit) => fetch(`${standIn.url}${path}`, init);

async function refusal(attempt: Promise<unknown>): Promise<{ code: unknown; message: string }> {
  return attempt.then(
    () => {
      throw new Error("was not refused");
    },
    (error: { code: unknown; message: string }) => error,
  );
}

describe("generations and preconditions", () => {
  test("generations and preconditions of two creations on condition of absence one wins, the other is refused with 412 in the service's words", async () => {
    await save(object("a"), "1", 0);
    const refused = await refusal(save(object("a"), "2", 0));
    expect(Number(refused.code)).toBe(412);
    expect(refused.message).toContain("At least one of the pre-conditions you specified did not hold.");
    expect((await object("a").download())[0].toString()).toBe("1");
  });

  test("a write on condition of a generation replaces that one only, and the answer brings the new one", async () => {
    const first = await save(object("a"), "1", 0);
    const second = await save(object("a"), "2", first);
    expect(second).not.toBe(first);
    expect(Number((await refusal(save(object("a"), "3", first))).code)).toBe(412);
    expect((await object("a").getMetadata())[0].generation).toBe(second);
  });

  test("a name that was deleted and made again has a generation that it never had before", async () => {
    const seen = new Set<string>();
    for (let round = 0; round < 20; round++) {
      seen.add(await save(object("a"), "1", 0));
      await object("a").delete();
    }
    expect(seen.size).toBe(20);
  });

  test("generations may be handed out in any order, and stay unique", async () => {
    await standIn.close();
    standIn = await GcsStandIn.start({ buckets: ["locks"], generations: "shuffled" });
    storage = clientOf(standIn.url);
    const seen: string[] = [];
    for (let round = 0; round < 20; round++) seen.push(await save(object("a"), String(round)));
    expect(new Set(seen).size).toBe(20);
    expect([...seen].sort((one, other) => Number(BigInt(one) - BigInt(other)))).not.toEqual(seen);
  });

  test("metadata pinned to a generation is 404 once that generation has been replaced", async () => {
    const first = await save(object("a"), "1");
    const [metadata] = await object("a").getMetadata({ generation: first });
    expect(metadata).toMatchObject({ generation: first, metageneration: "1", size: "1" });
    await save(object("a"), "2");
    expect(Number((await refusal(object("a").getMetadata({ generation: first }))).code)).toBe(404);
  });

  test("a metadata change raises the metageneration, keeps the generation, and has conditions of its own", async () => {
    const generation = await save(object("a"), "1");
    await object("a").setMetadata({ metadata: { colour: "blue" } }, { ifMetagenerationMatch: 1 });
    const [metadata] = await object("a").getMetadata();
    expect(metadata).toMatchObject({ generation, metageneration: "2", metadata: { colour: "blue" } });
    const again = object("a").setMetadata({ metadata: { colour: "red" } }, { ifMetagenerationMatch: 1 });
    expect(Number((await refusal(again)).code)).toBe(412);
    expect(Number((await refusal(object("a").delete({ ifMetagenerationMatch: 1 }))).code)).toBe(412);
  });

  test("a delete on condition of another generation changes nothing", async () => {
    const generation = await save(object("a"), "1");
    expect(Number((await refusal(object("a").delete({ ifGenerationMatch: 5 }))).code)).toBe(412);
    await object("a").delete({ ifGenerationMatch: generation });
    expect(Number((await refusal(object("a").delete({ ifGenerationMatch: generation }))).code)).toBe(404);
  });

  test("a read on condition of change answers 304 without a body, and in full once something changed", async () => {
    const generation = await save(object("a"), "1");
    const path = `/storage/v1/b/locks/o/a?alt=media&ifGenerationNotMatch=${generation}`;
    const unchanged = await raw(path);
    expect([unchanged.status, await unchanged.text()]).toEqual([304, ""]);
    await save(object("a"), "2");
    const changed = await raw(path);
    expect([changed.status, await changed.text()]).toEqual([200, "2"]);
  });
});

describe("answers", () => {
  test("a download carries the generation of its content, its checksums, and the time in whole seconds", async () => {
    const generation = await save(object("a/b c"), "hello");
    const answer = await raw("/storage/v1/b/locks/o/a%2Fb%20c?alt=media");
    expect(await answer.text()).toBe("hello");
    expect(answer.headers.get("x-goog-generation")).toBe(generation);
    expect(answer.headers.get("x-goog-metageneration")).toBe("1");
    expect(answer.headers.get("x-goog-stored-content-length")).toBe("5");
    expect(answer.headers.get("x-goog-hash")).toBe("crc32c=mnG7TA==,md5=XUFAKrxLKna5cZ2REBfFkg==");
    expect(answer.headers.get("date")).toMatch(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/);
  });

  test("a range of a download is that part; of an empty object there is none", async () => {
    await save(object("a"), "hello");
    const part = await raw("/storage/v1/b/locks/o/a?alt=media", { headers: { range: "bytes=0-1" } });
    expect([part.status, await part.text()]).toEqual([206, "he"]);
    expect(part.headers.get("x-goog-stored-content-length")).toBe("5");
    await save(object("empty"), "");
    const none = await raw("/storage/v1/b/locks/o/empty?alt=media", { headers: { range: "bytes=0-9" } });
    expect(none.status).toBe(416);
  });

  test("times are the storage's own, whatever the clock of the caller says", async () => {
    await standIn.close();
    standIn = await GcsStandIn.start({ buckets: ["locks"], now: () => Date.UTC(2031, 0, 2, 3, 4, 5, 678) });
    storage = clientOf(standIn.url);
    await save(object("a"), "1");
    const [metadata, answer] = await object("a").getMetadata();
    expect(metadata.timeCreated).toBe("2031-01-02T03:04:05.678Z");
    expect((answer as { headers: Record<string, string> }).headers["date"]).toBe(
      "Thu, 02 Jan 2031 03:04:05 GMT",
    );
  });

  test("an absent object and an absent bucket are both 404, in different words", async () => {
    expect(await refusal(object("a").getMetadata())).toMatchObject({
      code: 404,
      message: "No such object: locks/a",
    });
    expect(await refusal(storage.bucket("none").file("a").getMetadata())).toMatchObject({
      code: 404,
      message: "The specified bucket does not exist.",
    });
    expect(await refusal(save(storage.bucket("none").file("a"), "1", 0))).toMatchObject({ code: 404 });
    expect((await storage.bucket("locks").exists())[0]).toBe(true);
    expect((await storage.bucket("none").exists())[0]).toBe(false);
  });

  test("a listing is cut by prefix and by page, in the order of the names", async () => {
    for (const name of ["b/2", "a/3", "a/1", "a/2"]) await save(object(name), "1");
    const [one, next] = await storage
      .bucket("locks")
      .getFiles({ prefix: "a/", maxResults: 2, autoPaginate: false });
    expect(one.map((file) => file.name)).toEqual(["a/1", "a/2"]);
    const [two, end] = await storage.bucket("locks").getFiles(next as object);
    expect(two.map((file) => file.name)).toEqual(["a/3"]);
    expect(end).toBeNull();
  });

  test("the client's own checks of uploads and downloads pass", async () => {
    for (const validation of ["md5", "crc32c"] as const) {
      await object(validation).save("content", { resumable: false, validation });
      expect((await object(validation).download({ validation }))[0].toString()).toBe("content");
    }
  });

  test("an object can be uploaded in one simple request, and by a resumable session, each with its conditions", async () => {
    const simple = await raw("/upload/storage/v1/b/locks/o?uploadType=media&name=a&ifGenerationMatch=0", {
      method: "POST",
      headers: { "content-type": "text/plain" },
      body: "simple",
    });
    expect(await simple.json()).toMatchObject({ name: "a", contentType: "text/plain", size: "6" });

    standIn.log.clear();
    await object("b").save("resumable", { resumable: true, preconditionOpts: { ifGenerationMatch: 0 } });
    expect((await object("b").download())[0].toString()).toBe("resumable");
    expect(standIn.log.count("upload.start") + standIn.log.count("upload.continue")).toBe(2);
    const again = object("b").save("other", { resumable: true, preconditionOpts: { ifGenerationMatch: 0 } });
    expect(Number((await refusal(again)).code)).toBe(412);
  });

  test("one mutation per second and name, deletes included; other names are free", async () => {
    await standIn.close();
    let now = Date.UTC(2031, 0, 1);
    standIn = await GcsStandIn.start({ buckets: ["locks"], limitMutations: true, now: () => now });
    storage = clientOf(standIn.url);
    const generation = await save(object("a"), "1", 0);
    await save(object("b"), "1", 0);
    const refused = await refusal(save(object("a"), "2", generation));
    expect(refused).toMatchObject({ code: 429 });
    expect(refused.message).toContain("exceeded the rate limit for object mutation operations");
    expect(Number((await refusal(save(object("a"), "2", 0))).code)).toBe(429);
    expect(Number((await refusal(object("a").delete())).code)).toBe(429);
    now += 1_000;
    await object("a").delete();
    expect(Number((await refusal(save(object("a"), "2", 0))).code)).toBe(429);
  });
});

describe("faults", () => {
  const content = async (name: string) =>
    standIn.state.objectsOf("locks").get(name)?.content.toString() ?? "absent";

  test("a reset before, and a silence, change nothing", async () => {
    standIn.faults.next("object.insert", { kind: "reset" });
    expect(await refusal(save(object("a"), "1"))).toMatchObject({ code: "ECONNRESET" });
    standIn.faults.next("object.insert", { kind: "stall" });
    expect((await refusal(save(object("a"), "1"))).message).toContain("timeout");
    expect(await content("a")).toBe("absent");
  });

  test("a lost answer, and one that never comes, leave the write applied", async () => {
    standIn.faults.next("object.insert", { kind: "lose-answer" });
    expect(await refusal(save(object("a"), "1"))).toMatchObject({ code: "ECONNRESET" });
    expect(await content("a")).toBe("1");
    standIn.faults.next("object.insert", { kind: "stall-answer" });
    expect((await refusal(save(object("a"), "2"))).message).toContain("timeout");
    expect(await content("a")).toBe("2");
  });

  test("a stalled creation lands when nobody expects it any more, if its condition holds then", async () => {
    let land = () => {};
    const until = new Promise<void>((resolve) => (land = resolve));
    standIn.faults.next("object.insert", { kind: "land-late", until });
    await refusal(save(object("a"), "late", 0));
    await save(object("a"), "in between", 0);
    await object("a").delete();
    land();
    await until;
    await new Promise(setImmediate);
    expect(await content("a")).toBe("late");
  });

  test("a request that is doubled on the way is its own rival", async () => {
    standIn.faults.next("object.insert", { kind: "double", answer: "second" });
    expect(Number((await refusal(save(object("a"), "1", 0))).code)).toBe(412);
    expect(await content("a")).toBe("1");
  });

  test("a refusal applies to the object that was named, as often as was planned", async () => {
    standIn.faults.next("object.get", { kind: "answer", status: 503 }, { object: "a", times: 2 });
    await save(object("a"), "1");
    await save(object("b"), "1");
    await object("b").getMetadata();
    const refused = await refusal(object("a").getMetadata());
    expect(refused).toMatchObject({
      code: 503,
      message: "We encountered an internal error. Please try again.",
    });
    expect(Number((await refusal(object("a").getMetadata())).code)).toBe(503);
    await object("a").getMetadata();
  });

  test("every request that reached the socket is counted, answered or not", async () => {
    standIn.faults.next("object.insert", { kind: "reset" });
    await refusal(save(object("a"), "1"));
    await save(object("a"), "1");
    await object("a").getMetadata();
    expect(standIn.log.count("object.insert", "a")).toBe(2);
    expect(standIn.log.requests.map(({ operation, status }) => [operation, status])).toEqual([
      ["object.insert", undefined],
      ["object.insert", 200],
      ["object.get", 200],
    ]);
  });
});

describe("what the client does, and the lock must reckon with", () => {
  test("a save that is not resumable is one request", async () => {
    await save(object("a"), "1", 0);
    expect(standIn.log.requests).toHaveLength(1);
  });

  test("with validation on, a checksum mismatch is answered by deleting whatever is there", async () => {
    standIn.faults.next("object.insert", { kind: "wrong-checksum" });
    await refusal(object("a").save("1", { resumable: false, preconditionOpts: { ifGenerationMatch: 0 } }));
    const deletion = standIn.log.requests.find(({ operation }) => operation === "object.delete");
    expect(deletion?.target).not.toContain("ifGenerationMatch");

    standIn.faults.next("object.insert", { kind: "wrong-checksum" });
    standIn.log.clear();
    await save(object("a"), "1", 0);
    expect(standIn.log.count("object.delete")).toBe(0);
  });

  test("one save without a condition switches the client's retries off for good", async () => {
    const retrying = new Storage({ apiEndpoint: standIn.url, projectId: "p" });
    expect(retrying.retryOptions.autoRetry).toBe(true);
    await retrying.bucket("locks").file("a").save("1", { resumable: false });
    expect(retrying.retryOptions.autoRetry).toBe(false);
  });

  test("with STORAGE_EMULATOR_HOST in its environment it writes, and reads 404", async () => {
    process.env["STORAGE_EMULATOR_HOST"] = standIn.url;
    try {
      storage = clientOf(standIn.url);
    } finally {
      delete process.env["STORAGE_EMULATOR_HOST"];
    }
    await save(object("a"), "1", 0);
    expect(Number((await refusal(object("a").getMetadata())).code)).toBe(404);
  });
});
