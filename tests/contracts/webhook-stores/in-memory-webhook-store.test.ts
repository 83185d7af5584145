import { InMemoryEventFeed } from "../../../src/infrastructure/persistence/memory/in-memory-event-feed";
import { InMemoryWebhookStore } from "../../../src/infrastructure/persistence/memory/webhooks/in-memory-webhook-store";
import { describeWebhookStore } from "./webhook-store-contract";

describeWebhookStore("InMemoryWebhookStore", async () => {
  const feed = new InMemoryEventFeed();
  return { store: new InMemoryWebhookStore((event) => feed.append([event])), feed, close: async () => {} };
});
