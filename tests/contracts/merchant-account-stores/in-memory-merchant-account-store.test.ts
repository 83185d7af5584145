import { InMemoryMerchantAccountStore } from "../../../src/infrastructure/persistence/memory/in-memory-merchant-account-store";
import { describeMerchantAccountStore } from "./merchant-account-store-contract";

describeMerchantAccountStore("InMemoryMerchantAccountStore", async () => ({
  store: new InMemoryMerchantAccountStore(),
  close: async () => {},
}));
