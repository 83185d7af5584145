import { sql, type Selectable } from "kysely";
import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import type {
  KnownAccount,
  MerchantAccount,
  MerchantAccountStore,
  SealedAccountSecrets,
} from "../../../application/ports/accounts/merchant-account-store";
import type { MerchantId } from "../../../domain/identifiers";
import { toDate, toMs } from "./payment-rows";
import { PreparedQuery } from "./prepared-query";
import type { SqlDatabase } from "./sql-database";
import type { GatewayAccountTable } from "./tables";

/**
 * Merchants' accounts beside the payments. Reads the store for each question, so that a change counts from the next payment
 * on, in every process.
 * Survives what the store survives.
 * Not for secrets as they are: what opens an account comes sealed.
 */
export class SqlMerchantAccountStore implements MerchantAccountStore {
  private readonly ofMerchant: PreparedQuery<{ merchant: string }, { account: string }>;
  /** Asked for each request in an account of a merchant's own. */
  private readonly named: PreparedQuery<{ account: string }, Selectable<GatewayAccountTable>>;

  constructor(private readonly database: SqlDatabase) {
    this.ofMerchant = new PreparedQuery((arg) =>
      database.queries
        .selectFrom("merchant_accounts")
        .select("account")
        .where("merchant_id", "=", arg("merchant")),
    );
    this.named = new PreparedQuery((arg) =>
      database.queries.selectFrom("gateway_accounts").selectAll().where("account", "=", arg("account")),
    );
  }

  async set({ merchant, account, setAt }: MerchantAccount, entry?: AuditEntry): Promise<void> {
    // First: an account that no merchant has yet does no harm, and one that is not known would not be caught up with.
    await this.keepSecrets(account, { key: null, webhookSecrets: null }, setAt);
    const written = { account, set_at: toMs(setAt) };
    await this.database.acted(
      this.database.queries
        .insertInto("merchant_accounts")
        .values({ merchant_id: merchant, ...written })
        .onConflict((known) => known.column("merchant_id").doUpdateSet(written))
        .returning("merchant_id")
        .compile(),
      entry,
    );
  }

  async unset(merchant: MerchantId, entry?: AuditEntry): Promise<boolean> {
    const gone = this.database.queries
      .deleteFrom("merchant_accounts")
      .where("merchant_id", "=", merchant)
      .returning("merchant_id");
    return (await this.database.acted(gone.compile(), entry)).length > 0;
  }

  async accountOf(merchant: MerchantId): Promise<string | null> {
    const [row] = await this.database.rows(this.ofMerchant.with({ merchant }));
    return row?.account ?? null;
  }

  async isShared(account: string): Promise<boolean> {
    const having = this.database.queries
      .selectFrom("merchant_accounts")
      .select("merchant_id")
      .where("account", "=", account)
      .limit(2);
    return (await this.database.rows(having.compile())).length > 1;
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

  async known(): Promise<readonly KnownAccount[]> {
    const all = this.database.queries.selectFrom("gateway_accounts").selectAll().orderBy("account");
    return (await this.database.rows(all.compile(), "list")).map(toKnownAccount);
  }

  async find(account: string): Promise<KnownAccount | null> {
    const [row] = await this.database.rows(this.named.with({ account }));
    return row === undefined ? null : toKnownAccount(row);
  }

  async keepSecrets(
    account: string,
    { key, webhookSecrets }: SealedAccountSecrets,
    at: Date,
    entry?: AuditEntry,
  ): Promise<void> {
    const kept = this.database.queries
      .insertInto("gateway_accounts")
      .values({ account, sealed_key: key, sealed_webhook_secrets: webhookSecrets, known_since: toMs(at) })
      .onConflict((known) =>
        known.column("account").doUpdateSet({
          sealed_key: sql`coalesce(excluded.sealed_key, gateway_accounts.sealed_key)`,
          sealed_webhook_secrets: sql`coalesce(excluded.sealed_webhook_secrets, gateway_accounts.sealed_webhook_secrets)`,
        }),
      )
      .returning("account");
    await this.database.acted(kept.compile(), entry);
  }

  async forget(account: string, entry?: AuditEntry): Promise<boolean> {
    const db = this.database.queries;
    const having = db.selectFrom("merchant_accounts").select("merchant_id").where("account", "=", account);
    const gone = db
      .deleteFrom("gateway_accounts")
      .where("account", "=", account)
      .where((row) => row.not(row.exists(having)))
      .returning("account");
    return (await this.database.acted(gone.compile(), entry)).length > 0;
  }
}

function toKnownAccount(row: Selectable<GatewayAccountTable>): KnownAccount {
  return {
    account: row.account,
    key: row.sealed_key,
    webhookSecrets: row.sealed_webhook_secrets,
    since: toDate(row.known_since),
  };
}
