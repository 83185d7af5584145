import type {
  MerchantAccount,
  MerchantAccountStore,
} from "../../../application/ports/accounts/merchant-account-store";
import type { MerchantId } from "../../../domain/identifiers";

/**
 * Merchants' accounts in the memory of one process: nobody else sees them.
 * Survives nothing.
 * Not for a server that moves real money: for trials and tests.
 */
export class InMemoryMerchantAccountStore implements MerchantAccountStore {
  private readonly accounts = new Map<MerchantId, MerchantAccount>();

  async set(account: MerchantAccount): Promise<void> {
    this.accounts.set(account.merchant, account);
  }

  async unset(merchant: MerchantId): Promise<boolean> {
    return this.accounts.delete(merchant);
  }

  async accountOf(merchant: MerchantId): Promise<string | null> {
    return this.accounts.get(merchant)?.account ?? null;
  }

  async list(): Promise<readonly MerchantAccount[]> {
    return [...this.accounts.values()].sort((a, b) => (a.merchant < b.merchant ? -1 : 1));
  }
}
