import { closeSync, openSync, readSync } from "node:fs";
import { UsageError } from "../../exit-status";

/** Far longer than any key, and short enough for a file that was named by mistake. */
const LONGEST_BYTES = 4_096;
const MOST_WEBHOOK_SECRETS = 4;

/** The secret key in this file. What is in the file is in no message. */
export function keyIn(path: string): string {
  const key = textIn("--stripe-key-file", path);
  if (!/^[rs]k_(?:test|live)_[A-Za-z0-9_]{1,500}$/.test(key))
    throw new UsageError(
      `--stripe-key-file: ${path} must have one secret key in it, sk_… or rk_…, and nothing else`,
    );
  return key;
}

export function webhookSecretsIn(path: string): readonly string[] {
  const secrets = textIn("--stripe-webhook-secret-file", path).split(/[\s,]+/);
  if (secrets.length > MOST_WEBHOOK_SECRETS || !secrets.every((one) => /^whsec_[\w-]{16,256}$/.test(one)))
    throw new UsageError(
      `--stripe-webhook-secret-file: ${path} must have 1 to ${MOST_WEBHOOK_SECRETS} secrets in it that begin with whsec_`,
    );
  return secrets;
}

function textIn(option: string, path: string): string {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(LONGEST_BYTES);
      let length = 0;
      // A pipe comes in parts.
      for (let read = 1; read > 0 && length < LONGEST_BYTES; length += read)
        read = readSync(file, bytes, length, LONGEST_BYTES - length, null);
      return bytes.toString("utf8", 0, length).trim();
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new UsageError(
      `${option}: ${path} cannot be read (${String((error as NodeJS.ErrnoException).code)})`,
    );
  }
}
