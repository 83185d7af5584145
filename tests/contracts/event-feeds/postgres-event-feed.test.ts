import { PublicationsHeard } from "../../../src/infrastructure/persistence/events/publications-heard";
import { PostgresEventFeed } from "../../../src/infrastructure/persistence/postgres/postgres-event-feed";
import { PostgresPaymentRepository } from "../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { migratedPostgres } from "../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../support/servers/servers";
import { query } from "../../support/servers/postgres-locks";
import { describeEventFeed, type EventFeedHarness } from "./event-feed-contract";

// Each test makes the whole schema, on a server that others use, too.
jest.setTimeout(30_000);

describeWithPostgresSchemas("PostgresEventFeed", (server) => {
  let others = 0;

  async function open(url: string): Promise<EventFeedHarness> {
    const postgres = await migratedPostgres(url);
    const heard = new PublicationsHeard();
    return {
      repository: new PostgresPaymentRepository(postgres, () => heard.published()),
      feed: new PostgresEventFeed(postgres, heard),
      close: () => postgres.close(),
    };
  }

  describeEventFeed(
    "PostgresEventFeed",
    () => open(server.url),
    async () => {
      const schema = `other_${(others += 1)}`;
      await query(server.url, `CREATE SCHEMA ${schema}`);
      const url = new URL(server.url);
      url.searchParams.set("options", `-c search_path=${schema}`);
      return open(url.href);
    },
  );
});
