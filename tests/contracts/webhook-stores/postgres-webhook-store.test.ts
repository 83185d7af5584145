import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { PostgresEventFeed } from "../../../src/infrastructure/persistence/postgres/postgres-event-feed";
import { PostgresWebhookStore } from "../../../src/infrastructure/persistence/postgres/webhooks/postgres-webhook-store";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeWebhookStore } from "./webhook-store-contract";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

describeWithPostgresSchemas("webhooks in PostgreSQL", (server) => {
  describeWebhookStore("PostgresWebhookStore", async () => {
    const [here, there] = [await migratedPostgres(server.url), await migratedPostgres(server.url)];
    const heard = new PublicationsHeard();
    return {
      store: new PostgresWebhookStore(here, () => heard.published()),
      elsewhere: new PostgresWebhookStore(there, () => {}),
      feed: new PostgresEventFeed(here, heard),
      close: async () => {
        await here.close();
        await there.close();
      },
    };
  });
});
