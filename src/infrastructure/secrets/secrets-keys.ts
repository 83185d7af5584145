import { createHash } from "node:crypto";
import { SecretsKeyError } from "../../application/ports/events/secret-box";

export const KEY_BYTES = 32;

export interface SecretsKey {
  /** Tells keys apart, in the store and in messages. Says nothing about the key. */
  readonly id: string;
  readonly bytes: Buffer;
}

/** The first one seals; all of them open, so that a key can be replaced. */
export type SecretsKeys = readonly [SecretsKey, ...SecretsKey[]];

/** One key, or several with commas between them, each 32 bytes in base64 or hexadecimal. `where`: for messages. */
export function parseSecretsKeys(text: string, where: string): SecretsKeys {
  const [first = "", ...others] = text.split(",");
  return [keyOf(first.trim(), where), ...others.map((part) => keyOf(part.trim(), where))];
}

function keyOf(text: string, where: string): SecretsKey {
  const isHex = /^[0-9a-f]{64}$/i.test(text);
  const bytes = Buffer.from(text, isHex ? "hex" : "base64");
  if (bytes.length !== KEY_BYTES || (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(text))) {
    throw new SecretsKeyError(
      "secrets_key_missing",
      `${where} has to be ${KEY_BYTES} bytes in base64 or hexadecimal, such as openssl rand -base64 ${KEY_BYTES} prints`,
    );
  }
  return {
    id: createHash("sha256").update("holdfast secrets key").update(bytes).digest("hex").slice(0, 8),
    bytes,
  };
}
