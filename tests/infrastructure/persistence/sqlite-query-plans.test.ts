import { CompiledQuery } from "kysely";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { parseMerchantId } from "../../../src/domain/identifiers";
import { SqlApiKeyStore } from "../../../src/infrastructure/persistence/sql-api-key-store";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite-payment-repository";
import {
  after,
  authorizedPayment,
  begin,
  capturingPayment,
  inReview,
  newOperationId,
  NOON,
} from "../../support/payments";
import { temporarySqlite, type TemporarySqlite } from "../../support/temporary-sqlite";

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

  const payment = inReview(capturingPayment(authorizedPayment({ reference: "order-1" })));
  const merchant = parseMerchantId("acme");
  const everything = { createdFrom: NOON, createdTo: after(1), status: "capturing", reference: "order-1" };
  const page = (query: object) => async (store: PaymentRepository) => {
    for (let n = 0; n < 2; n += 1) await store.save(authorizedPayment({ reference: "order-1" }), "new");
    const { nextCursor } = await store.list({ merchant, limit: 1 });
    return store.list({ merchant, limit: 20, ...query, cursor: nextCursor! });
  };
  const due = { paymentId: payment.id, operationId: newOperationId(), dueAt: NOON };

  const questions: readonly (readonly [string, string, (store: PaymentRepository) => Promise<unknown>])[] = [
    ["find", "sqlite_autoindex_payments", (store) => store.find(payment.id)],
    ["events", "one_event_per_sequence", (store) => store.events(payment.id)],
    ["by operation", "sqlite_autoindex_operations", (store) => store.findByOperation(newOperationId())],
    [
      "by authorize key",
      "one_payment_per_authorize_key",
      (store) => store.findByAuthorizeKey(merchant, begin().idempotencyKey),
    ],
    ["due operations", "operations_due", (store) => store.dueOperations(after(1), 10)],
    ["due operations, further on", "operations_due", (store) => store.dueOperations(after(1), 10, due)],
    ["lapsed authorizations", "payments_lapsing", (store) => store.lapsedAuthorizations(after(1), 10)],
    ["reviews", "operations_in_review", (store) => store.operationsInReview({ limit: 10 })],
    ["how many reviews", "operations_in_review", (store) => store.countInReview()],
    ["list", "payments_listed", (store) => store.list({ merchant, limit: 20 })],
    ["list, next page", "payments_listed", page({})],
    ["list by time", "payments_listed", (store) => store.list({ merchant, limit: 20, createdFrom: NOON })],
    ["list by status", "payments_by_status", page({ status: "captured" })],
    ["list by reference", "payments_by_reference", page({ reference: "order-1" })],
    ["list by everything", "payments_by_reference", page(everything)],
    ["ping", "sqlite_autoindex_operations", (store) => store.ping()],
  ];

  it.each(questions)("%s goes by %s", async (_name, index, ask) => {
    await repository.save(payment, "new");
    await ask(repository);
    const steps = plans();
    expect(steps.filter((step) => READS_EVERYTHING.test(step) && !step.includes("USING"))).toEqual([]);
    expect(steps.join("\n")).toContain(index);
    expect(asked.length).toBeGreaterThan(0);
  });

  it.each(questions.filter(([name]) => !name.startsWith("list")))(
    "%s sorts nothing (its index has the order)",
    async (_name, _index, ask) => {
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
      "DROP INDEX payments_by_reference; DROP INDEX payments_listed; DROP INDEX payments_by_status",
    );
    await repository.list({ merchant, limit: 20 });
    expect(plans().filter((step) => READS_EVERYTHING.test(step))).not.toEqual([]);
  });
});
