import { parseMerchantId } from "../../../src/domain/identifiers";
import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/memory/in-memory-api-key-store";
import { RememberedApiKeys } from "../../../src/infrastructure/persistence/remembered-api-keys";
import { after, NOON } from "../../support/worlds/payments";

/** Counts how often the store behind is asked. */
class CountedStore extends InMemoryApiKeyStore {
  asked = 0;
  /** Between the question, when the answer is already found, and its arrival. */
  meanwhile: () => Promise<void> = async () => {};

  override async findBySecretHash(secretHash: string) {
    this.asked += 1;
    const found = await super.findBySecretHash(secretHash);
    await this.meanwhile();
    return found;
  }

  override async anyEverCreated() {
    this.asked += 1;
    const answer = await super.anyEverCreated();
    await this.meanwhile();
    return answer;
  }
}

describe("RememberedApiKeys", () => {
  let nowMs: number;
  let store: CountedStore;
  let keys: RememberedApiKeys;

  beforeEach(async () => {
    nowMs = 0;
    store = new CountedStore();
    keys = new RememberedApiKeys(store, () => nowMs);
    await create("1");
  });

  const create = (id: string) =>
    store.create({
      id,
      merchant: parseMerchantId("acme"),
      operator: false,
      name: null,
      prefix: "hf",
      createdAt: NOON,
      secretHash: `hash ${id}`,
    });

  it("RememberedApiKeys notes the use of a key once a minute at most, and not where nothing may be written", async () => {
    let now = NOON;
    const noting = new RememberedApiKeys(store, () => nowMs, { now: () => now });
    const lastUse = async () => (await store.list())[0]!.lastUsedAt;
    await keys.findBySecretHash("hash 1");
    await noting.findBySecretHash("hash of nobody");
    expect(await lastUse()).toBeNull();
    for (const [ms, noted] of [
      [0, 0],
      [59_999, 0],
      [60_500, 60_500],
    ] as const) {
      nowMs = ms;
      now = after(ms);
      await noting.findBySecretHash("hash 1");
      expect(await lastUse()).toEqual(after(noted));
    }
  });

  it("RememberedApiKeys asks once for a key that is used again and again", async () => {
    for (nowMs = 0; nowMs < 500; nowMs += 100) {
      expect(await keys.findBySecretHash("hash 1")).toMatchObject({ id: "1" });
      expect(await keys.anyEverCreated()).toBe(true);
    }
    expect(store.asked).toBe(2);
  });

  it("asks whether there is a key at all until there is one, and never again", async () => {
    store = new CountedStore();
    keys = new RememberedApiKeys(store, () => nowMs);
    expect(await keys.anyEverCreated()).toBe(false);
    expect(await keys.anyEverCreated()).toBe(false);
    expect(store.asked).toBe(1);
    await create("1");
    for (nowMs = 500; nowMs < 5_000; nowMs += 500) expect(await keys.anyEverCreated()).toBe(true);
    expect(store.asked).toBe(2);
  });

  it("RememberedApiKeys asks again after half a second", async () => {
    await keys.findBySecretHash("hash 1");
    await store.revoke("1", NOON);
    nowMs = 499;
    expect(await keys.findBySecretHash("hash 1")).not.toBeNull();
    nowMs = 500;
    expect(await keys.findBySecretHash("hash 1")).toBeNull();
  });

  it("RememberedApiKeys forgets at once what is revoked here", async () => {
    await keys.findBySecretHash("hash 1");
    await keys.revoke("1", NOON);
    expect(await keys.findBySecretHash("hash 1")).toBeNull();
  });

  it("RememberedApiKeys remembers nothing about secrets that nobody has", async () => {
    for (let n = 0; n < 100; n += 1) await keys.findBySecretHash("stranger");
    expect(store.asked).toBe(100);
  });

  it("shares one question between requests that come at once", async () => {
    const asking = Array.from({ length: 10 }, () => keys.findBySecretHash("hash 1"));
    for (const key of await Promise.all(asking)) expect(key).toMatchObject({ id: "1" });
    expect(store.asked).toBe(1);
  });

  it("does not remember that the store has failed", async () => {
    store.meanwhile = () => Promise.reject(new Error("gone"));
    await expect(keys.findBySecretHash("hash 1")).rejects.toThrow("gone");
    await expect(keys.anyEverCreated()).rejects.toThrow("gone");
    store.meanwhile = async () => {};
    expect(await keys.findBySecretHash("hash 1")).toMatchObject({ id: "1" });
    expect(await keys.anyEverCreated()).toBe(true);
  });

  it("does not keep a key that is revoked while the store is being asked for it", async () => {
    let goOn = (): void => {};
    store.meanwhile = () => new Promise((resolve) => (goOn = resolve));
    const asking = keys.findBySecretHash("hash 1");
    await keys.revoke("1", NOON);
    goOn();
    await asking;
    store.meanwhile = async () => {};
    expect(await keys.findBySecretHash("hash 1")).toBeNull();
  });

  it("keeps ten thousand keys at most: the oldest goes", async () => {
    for (let n = 2; n <= 10_001; n += 1) await create(String(n));
    for (let n = 1; n <= 10_001; n += 1) await keys.findBySecretHash(`hash ${n}`);
    const before = store.asked;
    await keys.findBySecretHash("hash 10001");
    expect(store.asked).toBe(before);
    await keys.findBySecretHash("hash 1");
    expect(store.asked).toBe(before + 1);
  });
});
