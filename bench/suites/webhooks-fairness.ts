// What one dead and one slow webhook endpoint cost the others: the same work in one run, in turns while the two are healthy
// and while they are not.
import type { WebhookStore } from "../../src/application/ports/events/webhook-store";
import { PostgresWebhookStore } from "../../src/infrastructure/persistence/postgres/webhooks/postgres-webhook-store";
import { SqliteWebhookStore } from "../../src/infrastructure/persistence/sqlite/webhooks/sqlite-webhook-store";
import { CrowdOfEndpoints } from "../../tests/support/receivers/crowd-of-endpoints";
import { migratedPostgres } from "../../tests/support/servers/migrated-postgres";
import { postgresAnswers } from "../../tests/support/servers/probes";
import { serverUrl } from "../../tests/support/servers/server-availability";
import { temporarySqlite } from "../../tests/support/worlds/temporary-sqlite";
import { compare, inMilliseconds, sideBySide } from "../measuring/side-by-side";
import type { Bench } from "../measuring/suite";
import { ownDatabase } from "../store/own-database";

export async function webhooksFairness(bench: Bench): Promise<void> {
  const { sqlite, close } = await temporarySqlite();
  try {
    await measure(bench, "SQLite", new SqliteWebhookStore(sqlite, () => {}));
  } finally {
    await close();
  }
  if (!(await postgresAnswers(serverUrl("postgres")))) {
    bench.leaveOut("fairness between webhook endpoints, PostgreSQL", "no PostgreSQL answers");
    return;
  }
  const database = await ownDatabase(serverUrl("postgres"));
  try {
    const postgres = await migratedPostgres(database.url);
    await measure(bench, "PostgreSQL", new PostgresWebhookStore(postgres, () => {}));
    await postgres.close();
  } finally {
    await database.drop();
  }
}

async function measure(bench: Bench, name: string, store: WebhookStore): Promise<void> {
  const endpoints = bench.size(1_000, 10);
  const events = bench.size(600, 40);
  const crowd = await CrowdOfEndpoints.open({ store, endpoints });
  try {
    const { ours, theirs } = await sideBySide(bench.size(9, 1), {
      theirs: () => crowd.p99Lag(events, { withTrouble: false }),
      ours: () => crowd.p99Lag(events, { withTrouble: true }),
    });
    bench.report(
      compare({
        suite: "webhooks-fairness",
        work: `p99 lag of ${endpoints - 2} webhooks beside a dead and a slow one, ${name}`,
        against: "the same while those two are healthy",
        atMost: 2,
        ours,
        theirs,
        show: inMilliseconds,
      }),
    );
  } finally {
    await crowd.close();
  }
}
