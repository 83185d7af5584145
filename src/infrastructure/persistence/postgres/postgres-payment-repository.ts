import { CompiledQuery } from "kysely";
import { StoreUnavailableError, type StoredPayment } from "../../../application/ports/payment-repository";
import type { PaymentId } from "../../../domain/identifiers";
import type { PostgresDatabase } from "./postgres-database";
import { SqlPaymentRepository, type PaymentChange } from "../sql/sql-payment-repository";
import { GroupedCalls } from "./together/grouped-calls";
import { MOST_TOGETHER } from "./together/most-together";
import { textArray } from "./together/text-array";
import { PaymentSaves } from "./together/payment-saves";
import { WriteReadiness } from "../write-readiness";

/** A row that nothing reads while it is what it was. */
const SMALL_TRIAL = CompiledQuery.raw(
  "UPDATE schema_migrations SET applied_at = applied_at WHERE version = 1",
);
/** Takes room where the rows are and gives it back undone. Not compressible: hexadecimal digits of hashes. */
const ROOM_TRIAL = CompiledQuery.raw(`DO $$ BEGIN
    INSERT INTO api_keys (id, merchant_id, operator, name, prefix, secret_hash, created_at)
      SELECT 'trial', 'trial', 0, string_agg(md5(random()::text), ''), 'trial', 'trial', 0 FROM generate_series(1, 2048);
    RAISE EXCEPTION USING ERRCODE = 'HF001';
  EXCEPTION WHEN SQLSTATE 'HF001' THEN NULL;
  END $$`);

/**
 * Payments in one PostgreSQL database, shared by any number of instances. Excludes nobody: order is the lock's work,
 * truth the version's and the schema's.
 * Survives the death of any instance, and lost connections: saves that come together are one statement, and one whose
 * answer was lost is known again by the ids of its events.
 * Not for a replica that lags behind: reads decide about writes.
 */
export class PostgresPaymentRepository extends SqlPaymentRepository {
  private readonly saves: PaymentSaves;
  private readonly finds: GroupedCalls<PaymentId, StoredPayment | null>;
  private readonly readiness: WriteReadiness;

  constructor(
    private readonly postgres: PostgresDatabase,
    onPublished: () => void = () => {},
  ) {
    super(postgres, onPublished);
    this.saves = new PaymentSaves(postgres);
    this.finds = new GroupedCalls({ most: MOST_TOGETHER, send: (ids) => this.findTogether(ids) });
    const small = async () => void (await postgres.rows(SMALL_TRIAL));
    this.readiness = new WriteReadiness({
      small,
      long: async () => {
        await postgres.rows(ROOM_TRIAL);
        await small();
      },
    });
  }

  override find(id: PaymentId): Promise<StoredPayment | null> {
    return this.finds.ask(id);
  }

  override async ping(): Promise<void> {
    await super.ping();
    await this.readiness.ask();
  }

  protected async write(change: PaymentChange): Promise<boolean> {
    try {
      const isWritten = await this.saves.save(change);
      this.readiness.succeeded();
      return isWritten;
    } catch (error) {
      if (error instanceof StoreUnavailableError) this.readiness.failed(error);
      throw error;
    }
  }

  private async findTogether(ids: readonly PaymentId[]): Promise<readonly (StoredPayment | null)[]> {
    if (ids.length === 1 && ids[0] !== undefined) return [await super.find(ids[0])];
    const found = this.found(await this.postgres.rows(this.queries.findAll.with({ ids: textArray(ids) })));
    return ids.map((id) => found.get(id) ?? null);
  }
}
