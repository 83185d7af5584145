import { RememberedApiKeys } from "../../../src/infrastructure/persistence/remembered-api-keys";
import { SqlApiKeyStore } from "../../../src/infrastructure/persistence/sql/sql-api-key-store";
import { SqlConsoleSessionStore } from "../../../src/infrastructure/persistence/sql/sql-console-session-store";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeApiKeyStore } from "./api-key-store-contract";
import { describeConsoleSessionStore } from "./console-session-store-contract";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

describeWithPostgresSchemas("API keys in PostgreSQL", (server) => {
  describeApiKeyStore("SqlApiKeyStore on PostgreSQL", async () => {
    const postgres = await migratedPostgres(server.url);
    return { store: new SqlApiKeyStore(postgres), close: () => postgres.close() };
  });

  describeConsoleSessionStore("SqlConsoleSessionStore on PostgreSQL", async () => {
    const postgres = await migratedPostgres(server.url);
    const [keys, sessions] = [new SqlApiKeyStore(postgres), new SqlConsoleSessionStore(postgres)];
    return { keys, sessions, close: () => postgres.close() };
  });

  describeApiKeyStore("RememberedApiKeys", async () => {
    const [here, there] = [await migratedPostgres(server.url), await migratedPostgres(server.url)];
    let nowMs = 0;
    const clock = () => nowMs;
    return {
      store: new RememberedApiKeys(new SqlApiKeyStore(here), clock),
      elsewhere: new RememberedApiKeys(new SqlApiKeyStore(there), clock),
      aSecondPasses: () => {
        nowMs += 1000;
      },
      close: async () => {
        await here.close();
        await there.close();
      },
    };
  });
});
