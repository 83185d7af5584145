import { SqlApiKeyStore } from "../../../src/infrastructure/persistence/sql/sql-api-key-store";
import { SqlConsoleSessionStore } from "../../../src/infrastructure/persistence/sql/sql-console-session-store";
import { openMigrated, temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { describeApiKeyStore } from "./api-key-store-contract";
import { describeConsoleSessionStore } from "./console-session-store-contract";

describeApiKeyStore("SqlApiKeyStore on SQLite", async () => {
  const { sqlite, path, close } = await temporarySqlite();
  const secondConnection = await openMigrated(path);
  return {
    store: new SqlApiKeyStore(sqlite),
    elsewhere: new SqlApiKeyStore(secondConnection),
    close: async () => {
      secondConnection.close();
      await close();
    },
  };
});

describeConsoleSessionStore("SqlConsoleSessionStore on SQLite", async () => {
  const { sqlite, close } = await temporarySqlite();
  return { keys: new SqlApiKeyStore(sqlite), sessions: new SqlConsoleSessionStore(sqlite), close };
});
