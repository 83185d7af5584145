import type { AccountSecrets } from "../ports/accounts/account-secrets";
import type { MerchantAccountStore, SealedAccountSecrets } from "../ports/accounts/merchant-account-store";
import type { SecretBox } from "../ports/events/secret-box";

/** What the secrets of an account are sealed for: moved to another account, or into the other's place, they do not open. */
export const boundTo = {
  key: (account: string) => `key of gateway account ${account}`,
  webhookSecrets: (account: string) => `webhook secrets of gateway account ${account}`,
} as const satisfies Record<keyof SealedAccountSecrets, (account: string) => string>;

/** Read and opened for each question: what was replaced is used no more, in every process. */
export class SealedAccounts implements AccountSecrets {
  constructor(
    private readonly accounts: Pick<MerchantAccountStore, "find">,
    /** Asked for where there is something to open: only whoever has secrets needs a key for them. */
    private readonly secrets: () => Promise<SecretBox>,
  ) {}

  keyOf(account: string): Promise<string | null> {
    return this.opened(account, "key");
  }

  async webhookSecretsOf(account: string): Promise<readonly string[]> {
    return (await this.opened(account, "webhookSecrets"))?.split(",") ?? [];
  }

  private async opened(account: string, name: keyof SealedAccountSecrets): Promise<string | null> {
    const sealed = (await this.accounts.find(account))?.[name] ?? null;
    return sealed === null ? null : (await this.secrets()).open(sealed, boundTo[name](account));
  }
}
