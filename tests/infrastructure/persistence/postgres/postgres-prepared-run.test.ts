import { CompiledQuery } from "kysely";
import { PostgresDatabase } from "../../../../src/infrastructure/persistence/postgres/postgres-database";
import { relayTo, type PostgresRelay } from "../../../support/servers/postgres-relay";
import { describeWithPostgres } from "../../../support/servers/servers";

describeWithPostgres("a statement of the store in PostgreSQL", (server) => {
  let relay: PostgresRelay;
  let database: PostgresDatabase;

  beforeEach(async () => {
    relay = await relayTo(server.url);
    database = new PostgresDatabase(relay.url, { maxConnections: 1 });
  });
  afterEach(async () => {
    await database.close();
    await relay.close();
  });

  const ask = (sql: string, ...values: unknown[]) => database.once(CompiledQuery.raw(sql, values));
  const told = () => ({ parsed: relay.answers("1"), described: relay.answers("T") });

  it("a statement of the store in PostgreSQL is parsed, and its columns are asked for, once on each connection", async () => {
    const twice = "SELECT $1::bigint * 2 AS twice";
    await ask("SELECT 1 AS one");
    const before = told();
    for (const n of [1n, 2n, 3n]) expect(await ask(twice, n)).toEqual([{ twice: n * 2n }]);
    expect(told()).toEqual({ parsed: before.parsed + 1, described: before.described + 1 });
    relay.cut();
    // The first may still meet the dead connection.
    await ask("SELECT 1 AS one").catch(() => {});
    await ask("SELECT 1 AS one");
    const cut = told();
    for (const n of [1n, 2n, 3n]) expect(await ask(twice, n)).toEqual([{ twice: n * 2n }]);
    expect(told()).toEqual({ parsed: cut.parsed + 1, described: cut.described + 1 });
  });

  it("a statement of the store in PostgreSQL is given and answers each kind of value, in rows of their own", async () => {
    const sql = `SELECT $1::text AS text, $2::bigint AS big, $3::integer AS small, $4::boolean AS yes,
      $5::text AS nothing, '{"a":[1]}'::json AS json FROM generate_series(1, 2)`;
    const row = {
      text: "Zoë \u{1f600}",
      big: 2n ** 60n,
      small: -7,
      yes: true,
      nothing: null,
      json: { a: [1] },
    };
    for (let time = 0; time < 2; time += 1)
      expect(await ask(sql, row.text, row.big, row.small, row.yes, null)).toEqual([row, row]);
    expect(await ask("SELECT 1 AS one WHERE $1::boolean", false)).toEqual([]);
  });

  it("a statement of the store in PostgreSQL works again after it was refused, by the server or before it was sent", async () => {
    const divide = "SELECT 1 / $1::integer AS part";
    await expect(ask(divide, 0)).rejects.toThrow("division by zero");
    await expect(ask(divide, {})).rejects.toThrow("object is not for a statement");
    await expect(ask(divide, 1)).resolves.toEqual([{ part: 1 }]);
    await expect(ask("SELECT nonsense")).rejects.toThrow('column "nonsense" does not exist');
    await expect(ask(divide, 1)).resolves.toEqual([{ part: 1 }]);
  });

  it("a statement of the store in PostgreSQL that fails takes its connection with it: a plan that no longer fits would fail for ever", async () => {
    await ask("CREATE TABLE things (a integer)");
    await ask("SELECT * FROM things");
    await ask("ALTER TABLE things ADD COLUMN b integer");
    await expect(ask("SELECT * FROM things")).rejects.toThrow("must not change result type");
    await expect(ask("SELECT * FROM things")).resolves.toEqual([]);
  });

  it("a statement of the store in PostgreSQL that is under way when its connection ends is told so, and nobody else", async () => {
    await ask("SELECT 1 AS one");
    const slow = ask("SELECT pg_sleep(2)");
    await new Promise((resolve) => setImmediate(resolve));
    relay.cut();
    await expect(slow).rejects.toThrow("PostgreSQL does not answer");
    await expect(ask("SELECT 1 AS one")).resolves.toEqual([{ one: 1 }]);
  });
});
