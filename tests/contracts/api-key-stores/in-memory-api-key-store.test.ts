import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/memory/in-memory-api-key-store";
import { InMemoryConsoleSessionStore } from "../../../src/infrastructure/persistence/memory/in-memory-console-session-store";
import { describeApiKeyStore } from "./api-key-store-contract";
import { describeConsoleSessionStore } from "./console-session-store-contract";

describeApiKeyStore("InMemoryApiKeyStore", async () => ({
  store: new InMemoryApiKeyStore(),
  close: async () => {},
}));

describeConsoleSessionStore("InMemoryConsoleSessionStore", async () => {
  const keys = new InMemoryApiKeyStore();
  return { keys, sessions: new InMemoryConsoleSessionStore(keys), close: async () => {} };
});
