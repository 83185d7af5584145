import { readFileSync } from "node:fs";
import { join } from "node:path";
import { CompiledQuery } from "kysely";
import { SystemClock } from "../../../../src/infrastructure/time/system-clock";
import { InMemoryPaymentRepository } from "../../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { exponentBeforeItWasKept } from "../../../../src/infrastructure/persistence/migrations/versions/from-0001/iso-4217-before-exponents";
import { migrations } from "../../../../src/infrastructure/persistence/migrations/migrations";
import { PostgresDatabase } from "../../../../src/infrastructure/persistence/postgres/postgres-database";
import { PostgresMigration } from "../../../../src/infrastructure/persistence/postgres/postgres-migration";
import { PostgresPaymentRepository } from "../../../../src/infrastructure/persistence/postgres/postgres-payment-repository";
import { operationRow, paymentRow } from "../../../../src/infrastructure/persistence/sql/payment-rows";
import { SqliteDatabase } from "../../../../src/infrastructure/persistence/sqlite/sqlite-database";
import { SqliteMigration } from "../../../../src/infrastructure/persistence/sqlite/sqlite-migration";
import { SqlitePaymentRepository } from "../../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import type { PaymentRepository } from "../../../../src/application/ports/payment-repository";
import type { Currency } from "../../../../src/domain/money";
import type { Payment } from "../../../../src/domain/payment/payment";
import { capturedPayment, forged } from "../../../support/worlds/payments";
import { temporaryDirectory } from "../../../support/worlds/temporary-directory";
import { describeWithPostgresSchemas } from "../../../support/servers/servers";

const listOne = JSON.parse(readFileSync(join(__dirname, "../../../fixtures/iso-4217.json"), "utf8")) as {
  readonly minorUnitDigits: Readonly<Record<string, number>>;
};
/** The schema as it was before exponents were kept. */
const BEFORE = 2;
const paymentColumnsBefore =
  "id merchant_id version status visible_status authorized currency payment_method reference metadata authorization_reference created_at authorized_at expires_at updated_at event_count".split(
    " ",
  );
const operationColumnsBefore =
  "id payment_id merchant_id position kind idempotency_key fingerprint amount n status failure_code failure_reason gateway_reference attempts conflicted created_at first_sent_at asked_at due_at settled_at".split(
    " ",
  );
const expected: readonly (readonly [code: string, exponent: number | null])[] = [
  ...Object.entries(listOne.minorUnitDigits),
  // Left the list lately, and had two digits as long as it was there.
  ["BGN", 2],
  ["HRK", 2],
  ["SLL", 2],
  // Never had a minor unit, or ISO 4217 does not say any more.
  ["XAU", null],
  ["DEM", null],
];
const payments = expected.map(([code, exponent]) => {
  const amount = { amount: 1_000_000n, currency: code as Currency, exponent };
  const payment = forged(capturedPayment(), { amount });
  const operations = payment.facts.operations.map((one) => ({ ...one, amount: amount.amount }));
  return forged(payment, { operations });
});

/** What an earlier version has written. */
function insertions(payment: Payment): readonly CompiledQuery[] {
  const { merchant, operations } = payment.facts;
  return [
    insertion("payments", paymentColumnsBefore, paymentRow(payment, 1)),
    ...operations.map((one, position) =>
      insertion("operations", operationColumnsBefore, operationRow(one, merchant, position)),
    ),
  ];
}

function insertion(table: string, columns: readonly string[], row: object): CompiledQuery {
  const values = columns.map((column) => {
    const value = (row as Record<string, string | bigint | null>)[column] ?? null;
    return value === null ? "NULL" : typeof value === "bigint" ? String(value) : `'${value}'`;
  });
  return CompiledQuery.raw(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${values.join(", ")})`);
}

async function expectExponents(repository: PaymentRepository): Promise<void> {
  for (const { facts } of payments) {
    expect((await repository.find(facts.id))?.payment.facts.amount).toEqual(facts.amount);
  }
}

describe("payments from before their exponents were kept count as ISO 4217 does", () => {
  const folder = temporaryDirectory();

  it("payments from before their exponents were kept count as ISO 4217 does in SQLite", async () => {
    const sqlite = await SqliteDatabase.open(join(folder.path, "holdfast.db"));
    try {
      await new SqliteMigration(sqlite, new SystemClock(), migrations.slice(0, BEFORE)).migrate();
      await sqlite.transaction(() => {
        for (const query of payments.flatMap(insertions)) sqlite.run(query);
        return true;
      });
      await new SqliteMigration(sqlite, new SystemClock()).migrate();
      await expectExponents(new SqlitePaymentRepository(sqlite));
    } finally {
      sqlite.close();
    }
  });

  it("payments from before their exponents were kept count as ISO 4217 does in a snapshot of a sandbox, and what was kept stays as it was kept", async () => {
    const repository = new InMemoryPaymentRepository();
    for (const payment of payments) await repository.save(payment, "new");
    const snapshot = repository.snapshot();
    const older = JSON.parse(JSON.stringify({ ...snapshot, format: 1 })) as {
      payments: { facts: { amount: { exponent?: number } } }[];
    };
    for (const { facts } of older.payments) delete facts.amount.exponent;
    const restored = new InMemoryPaymentRepository();
    restored.restore(older);
    await expectExponents(restored);

    const text = JSON.stringify(snapshot).replaceAll(
      '"currency":"HUF","exponent":2',
      '"currency":"HUF","exponent":0',
    );
    restored.restore(JSON.parse(text));
    expect(JSON.stringify(restored.snapshot())).toBe(text);
    expect(text).toMatch('"currency":"HUF","exponent":0');
  });

  it("payments from before their exponents were kept count as ISO 4217 does for what an earlier edition still had, too", () => {
    for (const [code, exponent] of expected) expect(exponentBeforeItWasKept(code)).toBe(exponent);
  });
});

describeWithPostgresSchemas("payments in PostgreSQL from before their exponents were kept", (server) => {
  it("count as ISO 4217 does", async () => {
    const postgres = new PostgresDatabase(server.url);
    try {
      await new PostgresMigration(postgres, new SystemClock(), migrations.slice(0, BEFORE)).migrate();
      for (const query of payments.flatMap(insertions)) await postgres.rows(query);
      await new PostgresMigration(postgres, new SystemClock()).migrate();
      await expectExponents(new PostgresPaymentRepository(postgres));
    } finally {
      await postgres.close();
    }
  });
});
