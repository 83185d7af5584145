import type { MerchantAccountStore } from "../../../src/application/ports/accounts/merchant-account-store";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { after } from "../../support/worlds/payments";

export interface MerchantAccountStoreHarness {
  readonly store: MerchantAccountStore;
  /** The same accounts as another process sees them; undefined where no other process can. */
  readonly elsewhere?: MerchantAccountStore;
  close(): Promise<void>;
}

const [acme, zoo] = [parseMerchantId("acme"), parseMerchantId("zoo")];

/** What every store of merchants' accounts promises, in the words of the port. */
export function describeMerchantAccountStore(
  name: string,
  make: () => Promise<MerchantAccountStoreHarness>,
): void {
  describe(`${name} keeps the accounts of merchants`, () => {
    let harness: MerchantAccountStoreHarness;
    let store: MerchantAccountStore;
    beforeEach(async () => {
      harness = await make();
      ({ store } = harness);
    });
    afterEach(() => harness.close());

    it("a merchant of whom nothing was set has the common account", async () => {
      expect(await store.accountOf(acme)).toBeNull();
      expect(await store.list()).toEqual([]);
      expect(await store.unset(acme)).toBe(false);
    });

    it("a merchant has the account that was set last, and another merchant does not", async () => {
      await store.set({ merchant: acme, account: "acct_1", setAt: after(1) });
      await store.set({ merchant: acme, account: "acct_2", setAt: after(2) });
      expect(await store.accountOf(acme)).toBe("acct_2");
      expect(await store.accountOf(zoo)).toBeNull();
    });

    it("a merchant has the common account again when theirs is unset", async () => {
      await store.set({ merchant: acme, account: "acct_1", setAt: after(1) });
      expect(await store.unset(acme)).toBe(true);
      expect(await store.unset(acme)).toBe(false);
      expect(await store.accountOf(acme)).toBeNull();
    });

    it("accounts of merchants are listed by merchant, with the time at which they were set", async () => {
      const ofZoo = { merchant: zoo, account: "acct_1", setAt: after(1) };
      const ofAcme = { merchant: acme, account: "acct_1", setAt: after(2) };
      for (const each of [ofZoo, ofAcme]) await store.set(each);
      expect(await store.list()).toEqual([ofAcme, ofZoo]);
    });

    it("an account is known as long as it is not forgotten, whoever has it, since it was first set", async () => {
      await store.set({ merchant: acme, account: "acct_2", setAt: after(1) });
      await store.set({ merchant: zoo, account: "acct_2", setAt: after(2) });
      await store.set({ merchant: acme, account: "acct_1", setAt: after(3) });
      await store.unset(acme);
      const nothing = { key: null, webhookSecrets: null };
      expect(await store.known()).toEqual([
        { account: "acct_1", ...nothing, since: after(3) },
        { account: "acct_2", ...nothing, since: after(1) },
      ]);
      expect(await store.find("acct_2")).toEqual({ account: "acct_2", ...nothing, since: after(1) });
      expect(await store.find("acct_3")).toBeNull();
    });

    it("secrets of an account replace those it had, and what is not given stays", async () => {
      await store.keepSecrets("acct_1", { key: "sealed 1", webhookSecrets: "sealed 2" }, after(1));
      await store.keepSecrets("acct_1", { key: "sealed 3", webhookSecrets: null }, after(2));
      await store.set({ merchant: acme, account: "acct_1", setAt: after(3) });
      const kept = { account: "acct_1", key: "sealed 3", webhookSecrets: "sealed 2", since: after(1) };
      expect(await (harness.elsewhere ?? store).find("acct_1")).toEqual(kept);
      await store.keepSecrets("acct_1", { key: null, webhookSecrets: "sealed 4" }, after(4));
      expect(await store.find("acct_1")).toEqual({ ...kept, webhookSecrets: "sealed 4" });
    });

    it("an account is forgotten with its secrets, once no merchant has it", async () => {
      await store.keepSecrets("acct_1", { key: "sealed", webhookSecrets: null }, after(1));
      await store.set({ merchant: acme, account: "acct_1", setAt: after(1) });
      expect(await store.forget("acct_1")).toBe(false);
      expect((await store.find("acct_1"))?.key).toBe("sealed");
      await store.unset(acme);
      expect(await store.forget("acct_1")).toBe(true);
      expect(await store.forget("acct_1")).toBe(false);
      expect(await store.known()).toEqual([]);
    });

    it("an account is shared when two merchants have it at the same time", async () => {
      await store.set({ merchant: acme, account: "acct_1", setAt: after(1) });
      expect(await store.isShared("acct_1")).toBe(false);
      await store.set({ merchant: zoo, account: "acct_1", setAt: after(2) });
      expect(await store.isShared("acct_1")).toBe(true);
      await store.set({ merchant: zoo, account: "acct_2", setAt: after(3) });
      expect(await store.isShared("acct_1")).toBe(false);
      expect(await store.isShared("acct_3")).toBe(false);
    });

    it("another process sees at once what was set and unset", async () => {
      const elsewhere = harness.elsewhere ?? store;
      expect(await elsewhere.accountOf(acme)).toBeNull();
      await store.set({ merchant: acme, account: "acct_1", setAt: after(1) });
      expect(await elsewhere.accountOf(acme)).toBe("acct_1");
      await store.unset(acme);
      expect(await elsewhere.accountOf(acme)).toBeNull();
    });
  });
}
