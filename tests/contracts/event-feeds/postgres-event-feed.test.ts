import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { PostgresEventFeed } from "../../../src/infrastructure/persistence/postgres/postgres-event-feed";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { describeEventFeed } from "./event-feed-contract";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

describeWithPostgresSchemas("PostgresEventFeed", (server) => {
  describeEventFeed("PostgresEventFeed", async () => {
    const postgres = await migratedPostgres(server.url);
    const heard = new PublicationsHeard();
    return {
      repository: new PostgresPaymentRepository(postgres, () => heard.published()),
      feed: new PostgresEventFeed(postgres, heard),
      close: () => postgres.close(),
    };
  });
});
