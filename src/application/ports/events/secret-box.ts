/**
 * Keeps what must be read again and must not be readable in the store. Every adapter MUST
 * - seal so that neither the store's content alone nor a changed one tells or forges a secret;
 * - bind what is sealed to `boundTo`: moved to another row, it does not open;
 * - reject with `SecretsKeyError` when it has no key, or not the one that something was sealed with.
 */
export interface SecretBox {
  seal(secret: string, boundTo: string): string;
  open(sealed: string, boundTo: string): string;
  /** Throws `SecretsKeyError` where the key that this was sealed with is not at hand. Opens nothing. */
  assertKeyOf(sealed: string): void;
}

export class SecretsKeyError extends Error {
  override readonly name = "SecretsKeyError";

  constructor(
    readonly code: "secrets_key_missing" | "secrets_key_wrong",
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
