import type { MerchantId } from "../../../domain/identifiers";

/** Where a merchant's next payment is authorized. */
export interface GatewayAccounts {
  /** What the gateway calls the merchant's own account; null: the common one. */
  accountOf(merchant: MerchantId): Promise<string | null>;
}

/**
 * Keeps which merchants have an account of their own at the gateway. It is asked when a payment begins; the payment keeps the
 * answer, so that what is changed here strands no payment that has begun. Every adapter MUST
 * - have made durable what it acknowledged, and show it to every process that uses the store from then on;
 * - reject with `StoreUnavailableError` when the store does not answer: whose account it is must not be guessed.
 */
export interface MerchantAccountStore extends GatewayAccounts {
  /** In place of what the merchant had. */
  set(account: MerchantAccount): Promise<void>;
  /** False if the merchant had none. */
  unset(merchant: MerchantId): Promise<boolean>;
  /** By merchant. */
  list(): Promise<readonly MerchantAccount[]>;
}

export interface MerchantAccount {
  readonly merchant: MerchantId;
  readonly account: string;
  readonly setAt: Date;
}
