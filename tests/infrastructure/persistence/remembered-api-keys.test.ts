import { parseMerchantId } from "../../../src/domain/identifiers";
import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/in-memory-api-key-store";
import { RememberedApiKeys } from "../../../src/infrastructure/persistence/remembered-api-keys";
import { NOON } from "../../support/payments";

/** Counts how often the store behind is asked. */
class CountedStore extends InMemoryApiKeyStore {
  asked = 0;

  override async findBySecretHash(secretHash: string) {
    this.asked += 1;
    return super.findBySecretHash(secretHash);
  }

  override async anyEverCreated() {
    this.asked += 1;
    return super.anyEverCreated();
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
    await store.create({
      id: "1",
      merchant: parseMerchantId("acme"),
      operator: false,
      name: null,
      prefix: "hf",
      createdAt: NOON,
      secretHash: "known",
    });
  });

  it("asks once for a key that is used again and again", async () => {
    for (nowMs = 0; nowMs < 500; nowMs += 100) {
      expect(await keys.findBySecretHash("known")).toMatchObject({ id: "1" });
      expect(await keys.anyEverCreated()).toBe(true);
    }
    expect(store.asked).toBe(2);
  });

  it("asks again after half a second", async () => {
    await keys.findBySecretHash("known");
    await store.revoke("1", NOON);
    nowMs = 499;
    expect(await keys.findBySecretHash("known")).not.toBeNull();
    nowMs = 500;
    expect(await keys.findBySecretHash("known")).toBeNull();
  });

  it("forgets at once what is revoked here", async () => {
    await keys.findBySecretHash("known");
    await keys.revoke("1", NOON);
    expect(await keys.findBySecretHash("known")).toBeNull();
  });

  it("remembers nothing about secrets that nobody has", async () => {
    for (let n = 0; n < 100; n += 1) await keys.findBySecretHash("stranger");
    expect(store.asked).toBe(100);
  });
});
