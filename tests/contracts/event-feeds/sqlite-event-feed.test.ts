import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { SqliteEventFeed } from "../../../src/infrastructure/persistence/sqlite/sqlite-event-feed";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { describeEventFeed } from "./event-feed-contract";

describeEventFeed("SqliteEventFeed", async () => {
  const { sqlite, close } = await temporarySqlite();
  const heard = new PublicationsHeard();
  return {
    repository: new SqlitePaymentRepository(sqlite, () => heard.published()),
    feed: new SqliteEventFeed(sqlite, heard),
    close,
  };
});
