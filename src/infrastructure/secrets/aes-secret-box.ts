import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import { SecretsKeyError, type SecretBox } from "../../application/ports/events/secret-box";
import type { SecretsKey, SecretsKeys } from "./secrets-keys";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** `v1.<key id>.<base64url of nonce, ciphertext and tag>`: another layout, or another key, can be told by looking. */
const SEALED = /^v1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;

/** So many characters of what is sealed tell the key. */
export const SEALED_BY_LENGTH = "v1.01234567.".length;

/**
 * Secrets by AES-256-GCM, each bound to the row that it is in. Keeps out whoever has the store and not the key.
 * Survives a change of the key, as long as the old one is among the keys.
 * Not against a reader of this process's memory: the key is in it.
 */
export class AesSecretBox implements SecretBox {
  private known: SecretsKeys | undefined;

  /** `keys` is asked at first use, so that only whoever has secrets needs a key. Throws `SecretsKeyError`. */
  constructor(private readonly keys: () => SecretsKeys) {}

  seal(secret: string, boundTo: string): string {
    const [{ id, bytes }] = (this.known ??= this.keys());
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, bytes, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(boundTo));
    const sealed = Buffer.concat([nonce, cipher.update(secret, "utf8"), cipher.final(), cipher.getAuthTag()]);
    return `v1.${id}.${sealed.toString("base64url")}`;
  }

  assertKeyOf(sealed: string): void {
    this.keyOf(sealed);
  }

  open(sealed: string, boundTo: string): string {
    const { key, content } = this.keyOf(sealed);
    const bytes = Buffer.from(content, "base64url");
    try {
      const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(Buffer.from(boundTo));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const opened = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([opened, decipher.final()]).toString("utf8");
    } catch (error) {
      throw new SecretsKeyError(
        "secrets_key_wrong",
        "a stored secret was changed, or moved from elsewhere, since it was sealed",
        { cause: error },
      );
    }
  }

  private keyOf(sealed: string): { readonly key: SecretsKey; readonly content: string } {
    const [, keyId, content] = SEALED.exec(sealed) ?? [];
    if (keyId === undefined || content === undefined) {
      throw new SecretsKeyError(
        "secrets_key_wrong",
        "a stored secret is not in a form that this version writes",
      );
    }
    const keys = (this.known ??= this.keys());
    const key = keys.find(({ id }) => id === keyId);
    if (key === undefined) {
      throw new SecretsKeyError(
        "secrets_key_wrong",
        `a stored secret was sealed with the key ${keyId}, and the keys at hand are ${keys.map(({ id }) => id).join(", ")}: ` +
          "set HOLDFAST_SECRETS_KEY to the key that it was sealed with, or put it behind the new one with a comma",
      );
    }
    return { key, content };
  }
}
