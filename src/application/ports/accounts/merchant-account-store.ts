import type { MerchantId } from "../../../domain/identifiers";
import type { AuditEntry } from "../audit/audit-trail";

/** Where a merchant's next payment is authorized, and whether that proves whose an authorization is. */
export interface GatewayAccounts {
  /** What the gateway calls the merchant's own account; null: the common one. */
  accountOf(merchant: MerchantId): Promise<string | null>;
  /** Several merchants have this account, so that being in it proves nothing. */
  isShared(account: string): Promise<boolean>;
}

/**
 * Keeps which merchants have an account of their own at the gateway, and what opens it. It is asked when a payment begins; the
 * payment keeps the answer, so that what is changed here strands no payment that has begun. Every adapter MUST
 * - have made durable what it acknowledged, and show it to every process that uses the store from then on;
 * - know an account that was once set until it is forgotten, whichever merchants have it: payments are in it;
 * - keep secrets as they are given, which is sealed;
 * - write an entry with the change that it tells of, as `AuditTrail` says;
 * - reject with `StoreUnavailableError` when the store does not answer: whose account it is must not be guessed.
 */
export interface MerchantAccountStore extends GatewayAccounts {
  /** In place of what the merchant had. */
  set(account: MerchantAccount, entry?: AuditEntry): Promise<void>;
  /** False if the merchant had none. */
  unset(merchant: MerchantId, entry?: AuditEntry): Promise<boolean>;
  /** By merchant. */
  list(): Promise<readonly MerchantAccount[]>;

  /** By name. */
  known(): Promise<readonly KnownAccount[]>;
  find(account: string): Promise<KnownAccount | null>;
  /** In place of those it had; null leaves what there is. The account is known from then on. */
  keepSecrets(account: string, secrets: SealedAccountSecrets, at: Date, entry?: AuditEntry): Promise<void>;
  /** With its secrets. False if it was not known, or a merchant has it. */
  forget(account: string, entry?: AuditEntry): Promise<boolean>;
}

export interface MerchantAccount {
  readonly merchant: MerchantId;
  readonly account: string;
  readonly setAt: Date;
}

/** What opens an account that is not connected to that of the server. */
export interface SealedAccountSecrets {
  /** The secret key of the account; null: it is asked as one that is connected. */
  readonly key: string | null;
  /** The signing secrets of the webhook endpoint in that account, one behind the other. */
  readonly webhookSecrets: string | null;
}

export interface KnownAccount extends SealedAccountSecrets {
  readonly account: string;
  readonly since: Date;
}

/** What Stripe calls an account. */
export function isAccountName(text: string): boolean {
  return /^acct_[A-Za-z0-9]{1,250}$/.test(text);
}
