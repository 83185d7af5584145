import { SqlMerchantAccountStore } from "../../../src/infrastructure/persistence/sql/sql-merchant-account-store";
import { openMigrated, temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { describeMerchantAccountStore } from "./merchant-account-store-contract";

describeMerchantAccountStore("SqlMerchantAccountStore on SQLite", async () => {
  const { sqlite, path, close } = await temporarySqlite();
  const secondConnection = await openMigrated(path);
  return {
    store: new SqlMerchantAccountStore(sqlite),
    elsewhere: new SqlMerchantAccountStore(secondConnection),
    close: async () => {
      secondConnection.close();
      await close();
    },
  };
});
