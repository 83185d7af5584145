import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { SqliteEventFeed } from "../../../src/infrastructure/persistence/sqlite/sqlite-event-feed";
import { SqliteWebhookStore } from "../../../src/infrastructure/persistence/sqlite/webhooks/sqlite-webhook-store";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { NOON } from "../../support/worlds/payments";
import { delivery, describeWebhookStore, endpoint } from "./webhook-store-contract";

describeWebhookStore("SqliteWebhookStore", async () => {
  const { sqlite, close } = await temporarySqlite();
  const heard = new PublicationsHeard();
  return {
    store: new SqliteWebhookStore(sqlite, () => heard.published()),
    feed: new SqliteEventFeed(sqlite, heard),
    close,
  };
});

describe("what a process had been lent when it ended", () => {
  it("is lent at once to the next one of the same file, which is the only one", async () => {
    const { sqlite, close } = await temporarySqlite();
    const claimedBy = (owner: string, store: SqliteWebhookStore) =>
      store.queue.claim({ owner, leaseMs: 60_000, now: NOON, perEndpoint: 4, alone: 4, limit: 9 });
    const before = new SqliteWebhookStore(sqlite, () => {});
    const one = endpoint();
    await before.endpoints.create(one, 0, 9);
    await before.fanOut.advance(await before.fanOut.state(), 1, [delivery(one.id, 1)]);
    expect(await claimedBy("before", before)).toHaveLength(1);
    expect(await claimedBy("beside", before)).toEqual([]);
    expect(await claimedBy("after", new SqliteWebhookStore(sqlite, () => {}))).toHaveLength(1);
    await close();
  });
});
