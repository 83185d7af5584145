import { SqliteHintStore } from "../../../src/infrastructure/persistence/sqlite/sqlite-hint-store";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { describeHintStore } from "./hint-store-contract";

describeHintStore("SqliteHintStore", async () => {
  const { sqlite, close } = await temporarySqlite();
  return { store: new SqliteHintStore(sqlite), elsewhere: new SqliteHintStore(sqlite), close };
});
