import { CompiledQuery } from "kysely";
import { SqlAuditTrail } from "../../../src/infrastructure/persistence/audit/sql-audit-trail";
import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { SqlApiKeyStore } from "../../../src/infrastructure/persistence/sql/sql-api-key-store";
import { SqlMerchantAccountStore } from "../../../src/infrastructure/persistence/sql/sql-merchant-account-store";
import { SqliteEventFeed } from "../../../src/infrastructure/persistence/sqlite/sqlite-event-feed";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { SqliteWebhookStore } from "../../../src/infrastructure/persistence/sqlite/webhooks/sqlite-webhook-store";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";
import { describeAuditTrail, type DatabaseHarness } from "./audit-trail-contract";

const statements = {
  change: "UPDATE audit_entries SET reason = 'none'",
  drop: "DELETE FROM audit_entries",
} as const;

describeAuditTrail(
  "SqlAuditTrail on SQLite",
  async (): Promise<DatabaseHarness> => {
    const { sqlite, close } = await temporarySqlite();
    const heard = new PublicationsHeard();
    const onPublished = () => heard.published();
    return {
      trail: new SqlAuditTrail(sqlite),
      payments: new SqlitePaymentRepository(sqlite, onPublished),
      apiKeys: new SqlApiKeyStore(sqlite),
      merchantAccounts: new SqlMerchantAccountStore(sqlite),
      webhooks: new SqliteWebhookStore(sqlite, onPublished),
      feed: new SqliteEventFeed(sqlite, heard),
      loseEntries: async () => sqlite.execute("ALTER TABLE audit_entries RENAME TO elsewhere"),
      tamper: async (statement) => sqlite.run(CompiledQuery.raw(statements[statement])),
      close,
    };
  },
  (harness) => harness as DatabaseHarness,
);
