import { SqlAuditTrail } from "../../../src/infrastructure/persistence/audit/sql-audit-trail";
import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { PostgresEventFeed } from "../../../src/infrastructure/persistence/postgres/postgres-event-feed";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { PostgresWebhookStore } from "../../../src/infrastructure/persistence/postgres/webhooks/postgres-webhook-store";
import { SqlApiKeyStore } from "../../../src/infrastructure/persistence/sql/sql-api-key-store";
import { SqlMerchantAccountStore } from "../../../src/infrastructure/persistence/sql/sql-merchant-account-store";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeAuditTrail, type DatabaseHarness } from "./audit-trail-contract";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

const statements = {
  change: "UPDATE audit_entries SET reason = 'none'",
  drop: "TRUNCATE audit_entries",
} as const;

describeWithPostgresSchemas("the audit in PostgreSQL", (server) => {
  describeAuditTrail(
    "SqlAuditTrail on PostgreSQL",
    async (): Promise<DatabaseHarness> => {
      const postgres = await migratedPostgres(server.url);
      const heard = new PublicationsHeard();
      const onPublished = () => heard.published();
      const run = (text: string) => postgres.session((client) => client.query(text));
      return {
        trail: new SqlAuditTrail(postgres),
        payments: new PostgresPaymentRepository(postgres, onPublished),
        apiKeys: new SqlApiKeyStore(postgres),
        merchantAccounts: new SqlMerchantAccountStore(postgres),
        webhooks: new PostgresWebhookStore(postgres, onPublished),
        feed: new PostgresEventFeed(postgres, heard),
        loseEntries: async () => void (await run("ALTER TABLE audit_entries RENAME TO elsewhere")),
        tamper: (statement) => run(statements[statement]),
        close: () => postgres.close(),
      };
    },
    (harness) => harness as DatabaseHarness,
  );
});
