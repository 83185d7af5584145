import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { describeEventFeed } from "./event-feed-contract";

describeEventFeed("InMemoryEventFeed", async () => {
  const repository = new InMemoryPaymentRepository();
  return { repository, feed: repository.feed, close: async () => {} };
});
