import type { HintStore } from "../../../../src/application/ports/gateway-events/hint-store";
import type { MerchantAccountStore } from "../../../../src/application/ports/accounts/merchant-account-store";
import { accountsOfMerchants } from "../../../../src/infrastructure/persistence/migrations/versions/from-0010/0012-accounts-of-merchants";
import { gatewayHints } from "../../../../src/infrastructure/persistence/migrations/versions/from-0010/0011-gateway-hints";
import { accountsWithKeys } from "../../../../src/infrastructure/persistence/migrations/versions/from-0010/0015-accounts-with-keys";
import { PostgresHintStore } from "../../../../src/infrastructure/persistence/postgres/postgres-hint-store";
import { SqlMerchantAccountStore } from "../../../../src/infrastructure/persistence/sql/sql-merchant-account-store";
import { SqliteHintStore } from "../../../../src/infrastructure/persistence/sqlite/sqlite-hint-store";
import type { SqlEngine } from "../../../../src/infrastructure/persistence/migrations/migration";
import { migratedPostgres } from "../../../support/servers/migrated-postgres";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";
import { after, NOON } from "../../../support/worlds/payments";
import { temporarySqlite } from "../../../support/worlds/temporary-sqlite";

const at = NOON.getTime();

/** The tables as they were, with something in them. */
const before = (engine: SqlEngine): readonly string[] =>
  [
    ...["gateway_events_seen", "gateway_hints", "gateway_catch_up", "gateway_catch_up_positions"],
    ...["gateway_accounts", "merchant_accounts"],
  ]
    .map((table) => `DROP TABLE ${table}`)
    .concat(
      gatewayHints.statements(engine),
      accountsOfMerchants.statements(engine).filter((statement) => statement.startsWith("CREATE TABLE")),
      `INSERT INTO gateway_events_seen (id, seen_at) VALUES ('evt_1', ${at})`,
      `INSERT INTO gateway_hints (reference, revision, received_at, due_at, attempts, claimed_until)
    VALUES ('pi_1', 3, ${at}, ${at}, 2, 0)`,
      `UPDATE gateway_catch_up SET caught_up_to = ${at}`,
      `INSERT INTO merchant_accounts VALUES ('acme', 'acct_1', ${at + 5}), ('zoo', 'acct_1', ${at})`,
      ...accountsWithKeys.statements(engine),
    );

async function expectKept(hints: HintStore, accounts: MerchantAccountStore): Promise<void> {
  expect(await hints.receive([{ eventId: "evt_1", reference: "pi_2", labelled: null }], NOON)).toBe(0);
  expect(await hints.beginCatchUp(after(1), 1)).toEqual({ caughtUpTo: NOON });
  expect(await hints.claim({ owner: "test", leaseMs: 1, now: NOON, limit: 9 })).toEqual([
    { reference: "pi_1", labelled: null, revision: 3, receivedAt: NOON, attempts: 2 },
  ]);
  expect(await accounts.known()).toEqual([
    { account: "acct_1", key: null, webhookSecrets: null, since: NOON },
  ]);
}

describe("what was told before hints had an account", () => {
  it("what was told before hints had an account is of the common one in SQLite, and nothing of it is lost", async () => {
    const { sqlite, close } = await temporarySqlite();
    try {
      for (const statement of before("sqlite")) sqlite.execute(statement);
      await expectKept(new SqliteHintStore(sqlite), new SqlMerchantAccountStore(sqlite));
    } finally {
      await close();
    }
  });
});

describeWithPostgresSchemas("what was told before hints had an account", (server) => {
  it("what was told before hints had an account is of the common one in PostgreSQL, and nothing of it is lost", async () => {
    const postgres = await migratedPostgres(server.url);
    try {
      for (const statement of before("postgres")) await postgres.session((client) => client.query(statement));
      await expectKept(new PostgresHintStore(postgres), new SqlMerchantAccountStore(postgres));
    } finally {
      await postgres.close();
    }
  });
});
