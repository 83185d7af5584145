import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { SqliteEventFeed } from "../../../src/infrastructure/persistence/sqlite/sqlite-event-feed";
import { SqliteWebhookStore } from "../../../src/infrastructure/persistence/sqlite/sqlite-webhook-store";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { describeWebhookStore } from "./webhook-store-contract";

describeWebhookStore("SqliteWebhookStore", async () => {
  const { sqlite, close } = await temporarySqlite();
  const heard = new PublicationsHeard();
  return {
    store: new SqliteWebhookStore(sqlite, () => heard.published()),
    feed: new SqliteEventFeed(sqlite, heard),
    close,
  };
});
