/** What opens the accounts of merchants that have a key of their own. Rejects where the store or the key of secrets fails. */
export interface AccountSecrets {
  /** The secret key of this account; null: it has none, and is asked as a connected one. */
  keyOf(account: string): Promise<string | null>;
  /** Signing secrets of the account's own webhook endpoint; none where it has no such endpoint. */
  webhookSecretsOf(account: string): Promise<readonly string[]>;
}

/** Asks the gateway whose a key is. Moves nothing, and resolves for everything that can happen on the way. */
export type AskKeyOwner = (key: string) => Promise<KeyOwner>;

export type KeyOwner =
  | { readonly outcome: "found"; readonly account: string }
  /** The gateway takes the key, and does not say whose it is: it may do little. */
  | { readonly outcome: "not_said" }
  | { readonly outcome: "refused" | "unknown"; readonly reason: string };
