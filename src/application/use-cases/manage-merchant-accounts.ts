import type { MerchantId } from "../../domain/identifiers";
import type { MerchantAccount, MerchantAccountStore } from "../ports/accounts/merchant-account-store";
import type { Clock } from "../ports/clock";

/** Says where a merchant's next payments go. Payments that have begun stay where they are. */
export class ManageMerchantAccounts {
  constructor(
    private readonly accounts: MerchantAccountStore,
    private readonly clock: Clock,
  ) {}

  async set(merchant: MerchantId, account: string): Promise<MerchantAccount> {
    const setting = { merchant, account, setAt: this.clock.now() };
    await this.accounts.set(setting);
    return setting;
  }

  unset(merchant: MerchantId): Promise<boolean> {
    return this.accounts.unset(merchant);
  }

  list(): Promise<readonly MerchantAccount[]> {
    return this.accounts.list();
  }
}
