import type {
  MerchantAccount,
  MerchantAccountStore,
} from "../../../application/ports/accounts/merchant-account-store";
import type { MerchantId } from "../../../domain/identifiers";
import { toDate, toMs } from "./payment-rows";
import { PreparedQuery } from "./prepared-query";
import type { SqlDatabase } from "./sql-database";

/**
 * Merchants' accounts beside the payments. Reads the store for each question, so that a change counts from the next payment
 * on, in every process.
 * Survives what the store survives.
 * Not for what secures an account: it has names only.
 */
export class SqlMerchantAccountStore implements MerchantAccountStore {
  private readonly ofMerchant: PreparedQuery<{ merchant: string }, { account: string }>;

  constructor(private readonly database: SqlDatabase) {
    this.ofMerchant = new PreparedQuery((arg) =>
      database.queries
        .selectFrom("merchant_accounts")
        .select("account")
        .where("merchant_id", "=", arg("merchant")),
    );
  }

  async set({ merchant, account, setAt }: MerchantAccount): Promise<void> {
    const written = { account, set_at: toMs(setAt) };
    await this.database.rows(
      this.database.queries
        .insertInto("merchant_accounts")
        .values({ merchant_id: merchant, ...written })
        .onConflict((known) => known.column("merchant_id").doUpdateSet(written))
        .compile(),
    );
  }

  async unset(merchant: MerchantId): Promise<boolean> {
    const gone = this.database.queries
      .deleteFrom("merchant_accounts")
      .where("merchant_id", "=", merchant)
      .returning("merchant_id");
    return (await this.database.rows(gone.compile())).length > 0;
  }

  async accountOf(merchant: MerchantId): Promise<string | null> {
    const [row] = await this.database.rows(this.ofMerchant.with({ merchant }));
    return row?.account ?? null;
  }

  async list(): Promise<readonly MerchantAccount[]> {
    const all = this.database.queries
      .selectFrom("merchant_accounts")
      .select(["merchant_id", "account", "set_at"])
      .orderBy("merchant_id");
    return (await this.database.rows(all.compile(), "list")).map((row) => ({
      merchant: row.merchant_id as MerchantId,
      account: row.account,
      setAt: toDate(row.set_at),
    }));
  }
}
