import type { AuditEntry } from "../../../application/ports/audit/audit-trail";
import type {
  KnownAccount,
  MerchantAccount,
  MerchantAccountStore,
  SealedAccountSecrets,
} from "../../../application/ports/accounts/merchant-account-store";
import type { MerchantId } from "../../../domain/identifiers";
import { InMemoryAuditTrail } from "./in-memory-audit-trail";

/**
 * Merchants' accounts in the memory of one process: nobody else sees them.
 * Survives nothing.
 * Not for a server that moves real money: for trials and tests.
 */
export class InMemoryMerchantAccountStore implements MerchantAccountStore {
  private readonly accounts = new Map<MerchantId, MerchantAccount>();
  private readonly knownAccounts = new Map<string, KnownAccount>();

  constructor(private readonly trail = new InMemoryAuditTrail()) {}

  async set(account: MerchantAccount, entry?: AuditEntry): Promise<void> {
    this.accounts.set(account.merchant, account);
    await this.keepSecrets(account.account, { key: null, webhookSecrets: null }, account.setAt, entry);
  }

  async unset(merchant: MerchantId, entry?: AuditEntry): Promise<boolean> {
    return this.kept(this.accounts.delete(merchant), entry);
  }

  async accountOf(merchant: MerchantId): Promise<string | null> {
    return this.accounts.get(merchant)?.account ?? null;
  }

  async isShared(account: string): Promise<boolean> {
    return this.merchantsOf(account).length > 1;
  }

  async list(): Promise<readonly MerchantAccount[]> {
    return [...this.accounts.values()].sort((a, b) => (a.merchant < b.merchant ? -1 : 1));
  }

  async known(): Promise<readonly KnownAccount[]> {
    return [...this.knownAccounts.values()].sort((a, b) => (a.account < b.account ? -1 : 1));
  }

  async find(account: string): Promise<KnownAccount | null> {
    return this.knownAccounts.get(account) ?? null;
  }

  async keepSecrets(
    account: string,
    { key, webhookSecrets }: SealedAccountSecrets,
    at: Date,
    entry?: AuditEntry,
  ): Promise<void> {
    const before = this.knownAccounts.get(account);
    this.knownAccounts.set(account, {
      account,
      key: key ?? before?.key ?? null,
      webhookSecrets: webhookSecrets ?? before?.webhookSecrets ?? null,
      since: before?.since ?? at,
    });
    this.kept(true, entry);
  }

  async forget(account: string, entry?: AuditEntry): Promise<boolean> {
    return this.kept(this.merchantsOf(account).length === 0 && this.knownAccounts.delete(account), entry);
  }

  private kept(isDone: boolean, entry: AuditEntry | undefined): boolean {
    if (isDone && entry !== undefined) this.trail.keep(entry);
    return isDone;
  }

  private merchantsOf(account: string): readonly MerchantAccount[] {
    return [...this.accounts.values()].filter((one) => one.account === account);
  }
}
