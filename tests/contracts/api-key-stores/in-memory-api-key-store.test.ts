import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/memory/in-memory-api-key-store";
import { describeApiKeyStore } from "./api-key-store-contract";

describeApiKeyStore("InMemoryApiKeyStore", async () => ({
  store: new InMemoryApiKeyStore(),
  close: async () => {},
}));
