import { randomUUID } from "node:crypto";
import type { ApiKeyStore, NewApiKey } from "../../../src/application/ports/api-key-store";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { after, NOON } from "../../support/worlds/payments";

export interface ApiKeyStoreHarness {
  readonly store: ApiKeyStore;
  /** The same keys as another process sees them; undefined where no other process can. */
  readonly elsewhere?: ApiKeyStore;
  /** What the port allows another process to take until it notices. */
  readonly aSecondPasses?: () => void;
  close(): Promise<void>;
}

/** What every API key store promises, in the words of the port. */
export function describeApiKeyStore(name: string, make: () => Promise<ApiKeyStoreHarness>): void {
  describe(`${name} keeps API keys`, () => {
    let harness: ApiKeyStoreHarness;
    let store: ApiKeyStore;
    beforeEach(async () => {
      harness = await make();
      ({ store } = harness);
    });
    afterEach(async () => {
      await harness.close();
    });

    it("a store of API keys gives back a key by the hash of its secret, and never the hash", async () => {
      const { secretHash, ...shown } = key({ operator: true, name: "till 3" });
      expect(await store.create({ ...shown, secretHash })).toEqual({
        ...shown,
        revokedAt: null,
        lastUsedAt: null,
      });
      expect(await store.findBySecretHash(secretHash)).toEqual({
        ...shown,
        revokedAt: null,
        lastUsedAt: null,
      });
      expect(JSON.stringify(await store.list())).not.toContain(secretHash);
    });

    it("a store of API keys knows nobody by another secret", async () => {
      await store.create(key());
      expect(await store.findBySecretHash("0".repeat(64))).toBeNull();
      expect(await store.findBySecretHash("")).toBeNull();
    });

    it("no longer knows a revoked key, and still lists it, with the first instant of its revocation", async () => {
      const made = key();
      await store.create(made);
      expect(await store.revoke(made.id, after(1))).toMatchObject({ id: made.id, revokedAt: after(1) });
      expect(await store.revoke(made.id, after(2))).toMatchObject({ revokedAt: after(1) });
      expect(await store.findBySecretHash(made.secretHash)).toBeNull();
      expect((await store.list()).map(({ revokedAt }) => revokedAt)).toEqual([after(1)]);
    });

    it("a store of API keys keeps the latest use of each key, in whichever order uses are noted", async () => {
      const [used, other] = [key(), key()];
      await store.create(used);
      await store.create(other);
      await store.noteUse(used.id, after(2));
      await store.noteUse(used.id, after(1));
      await store.noteUse(randomUUID(), after(3));
      const uses = new Map((await store.list()).map(({ id, lastUsedAt }) => [id, lastUsedAt]));
      expect(uses).toEqual(
        new Map([
          [used.id, after(2)],
          [other.id, null],
        ]),
      );
      expect(await store.findBySecretHash(used.secretHash)).toMatchObject({ revokedAt: null });
    });

    it("revokes nothing under an unknown id", async () => {
      expect(await store.revoke(randomUUID(), NOON)).toBeNull();
    });

    it("a store of API keys lists keys, the oldest first", async () => {
      const [first, second, third] = [after(0), after(2), after(1)].map((createdAt) => key({ createdAt }));
      for (const each of [first, second, third]) await store.create(each!);
      expect((await store.list()).map(({ id }) => id)).toEqual([first!.id, third!.id, second!.id]);
    });

    it("a store of API keys remembers that there once was a key when the last one is revoked", async () => {
      expect(await store.anyEverCreated()).toBe(false);
      const made = key();
      await store.create(made);
      expect(await store.anyEverCreated()).toBe(true);
      await store.revoke(made.id, NOON);
      expect(await store.anyEverCreated()).toBe(true);
    });

    it("a store of API keys shows another process what was created and revoked, within a second", async () => {
      const elsewhere = harness.elsewhere ?? store;
      const made = key();
      expect(await elsewhere.anyEverCreated()).toBe(false);
      expect(await elsewhere.findBySecretHash(made.secretHash)).toBeNull();
      await store.create(made);
      harness.aSecondPasses?.();
      expect(await elsewhere.anyEverCreated()).toBe(true);
      expect(await elsewhere.findBySecretHash(made.secretHash)).toMatchObject({ id: made.id });
      await store.revoke(made.id, NOON);
      harness.aSecondPasses?.();
      expect(await elsewhere.findBySecretHash(made.secretHash)).toBeNull();
    });
  });
}

function key(change: Partial<NewApiKey> = {}): NewApiKey {
  return {
    id: randomUUID(),
    merchant: parseMerchantId("acme"),
    operator: false,
    name: null,
    prefix: "hf_abcd",
    createdAt: NOON,
    secretHash: randomUUID().replaceAll("-", "").repeat(2),
    ...change,
  };
}
