import { CompiledQuery } from "kysely";
import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import { parseMerchantId } from "../../../../src/domain/identifiers";
import { SqlApiKeyStore } from "../../../../src/infrastructure/persistence/sql/sql-api-key-store";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { storeQuestions } from "../store-questions";
import { temporarySqlite, type TemporarySqlite } from "../../../support/worlds/temporary-sqlite";

/** A step of a plan that reads a whole table, or sorts more than one page. The page itself is a small table. */
const READS_EVERYTHING = /^SCAN (?!p$|\(subquery)/;
const SORTS_EVERYTHING = /USE TEMP B-TREE FOR ORDER BY/;

describe("with a million payments, no question to SQLite reads a whole table:", () => {
  let temporary: TemporarySqlite;
  let asked: CompiledQuery[];
  let repository: PaymentRepository;

  beforeEach(async () => {
    temporary = await temporarySqlite();
    asked = [];
    const { sqlite } = temporary;
    // Hears every query on its way to the real database.
    const rows = sqlite.rows.bind(sqlite);
    sqlite.rows = async (query) => {
      asked.push(query);
      return rows(query);
    };
    repository = new SqlitePaymentRepository(sqlite);
  });
  afterEach(async () => {
    await temporary.close();
  });

  function plans(): string[] {
    return asked.flatMap((query) =>
      (
        temporary.sqlite.all(CompiledQuery.raw(`EXPLAIN QUERY PLAN ${query.sql}`, [...query.parameters])) as {
          detail: string;
        }[]
      ).map(({ detail }) => detail),
    );
  }

  const merchant = parseMerchantId("acme");
  const questions = storeQuestions((table) => `sqlite_autoindex_${table}_1`);

  it.each(questions)("the question $name is answered from the index $index", async ({ index, ask }) => {
    await ask(repository);
    const steps = plans();
    expect(steps.filter((step) => READS_EVERYTHING.test(step) && !step.includes("USING"))).toEqual([]);
    expect(steps.join("\n")).toContain(index);
    expect(asked.length).toBeGreaterThan(0);
  });

  it.each(questions.filter(({ name }) => !name.startsWith("list")))(
    "$name sorts nothing (its index has the order)",
    async ({ ask }) => {
      await ask(repository);
      expect(plans().filter((step) => SORTS_EVERYTHING.test(step))).toEqual([]);
    },
  );

  it("secrets are looked up by their hash", async () => {
    const keys = new SqlApiKeyStore(temporary.sqlite);
    await keys.findBySecretHash("00");
    expect(plans().join()).toContain("sqlite_autoindex_api_keys_2 (secret_hash=?)");
  });

  it("a question without an index would be noticed", async () => {
    temporary.sqlite.execute(
      "DROP INDEX payments_by_reference; DROP INDEX payments_listed; DROP INDEX payments_by_status; DROP INDEX payments_by_amount",
    );
    await repository.list({ merchant, limit: 20 });
    expect(plans().filter((step) => READS_EVERYTHING.test(step))).not.toEqual([]);
  });
});
