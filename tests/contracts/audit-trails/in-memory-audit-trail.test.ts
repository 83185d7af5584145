import { InMemoryApiKeyStore } from "../../../src/infrastructure/persistence/memory/in-memory-api-key-store";
import { InMemoryAuditTrail } from "../../../src/infrastructure/persistence/memory/in-memory-audit-trail";
import { InMemoryMerchantAccountStore } from "../../../src/infrastructure/persistence/memory/in-memory-merchant-account-store";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { InMemoryWebhookStore } from "../../../src/infrastructure/persistence/memory/webhooks/in-memory-webhook-store";
import { describeAuditTrail } from "./audit-trail-contract";

describeAuditTrail("InMemoryAuditTrail", async () => {
  const trail = new InMemoryAuditTrail();
  const payments = new InMemoryPaymentRepository(undefined, trail);
  return {
    trail,
    payments,
    apiKeys: new InMemoryApiKeyStore(trail),
    merchantAccounts: new InMemoryMerchantAccountStore(trail),
    webhooks: new InMemoryWebhookStore((event) => payments.feed.append([event]), trail),
    feed: payments.feed,
    close: async () => {},
  };
});
