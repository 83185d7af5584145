import { PostgresHintStore } from "../../../src/infrastructure/persistence/postgres/postgres-hint-store";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeHintStore } from "./hint-store-contract";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

describeWithPostgresSchemas("hints in PostgreSQL", (server) => {
  describeHintStore("PostgresHintStore", async () => {
    const [here, there] = [await migratedPostgres(server.url), await migratedPostgres(server.url)];
    return {
      store: new PostgresHintStore(here),
      elsewhere: new PostgresHintStore(there),
      close: async () => {
        await here.close();
        await there.close();
      },
    };
  });
});
