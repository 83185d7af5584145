import { SqlMerchantAccountStore } from "../../../src/infrastructure/persistence/sql/sql-merchant-account-store";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeMerchantAccountStore } from "./merchant-account-store-contract";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

describeWithPostgresSchemas("accounts of merchants in PostgreSQL", (server) => {
  describeMerchantAccountStore("SqlMerchantAccountStore on PostgreSQL", async () => {
    const [here, there] = [await migratedPostgres(server.url), await migratedPostgres(server.url)];
    return {
      store: new SqlMerchantAccountStore(here),
      elsewhere: new SqlMerchantAccountStore(there),
      close: async () => {
        await here.close();
        await there.close();
      },
    };
  });
});
