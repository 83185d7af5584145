import { randomBytes } from "node:crypto";
import {
  closeSync,
  fstatSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { SecretsKeyError } from "../../application/ports/events/secret-box";
import { KEY_BYTES, parseSecretsKeys, type SecretsKeys } from "./secrets-keys";

/** Others on this host may not read it. */
const MODE = 0o600;

/**
 * The key in this file, which is made with a new one if it is not there and may be made. Whoever comes second reads what the
 * first made. Throws `SecretsKeyError`.
 */
export function secretsKeysInFile(path: string, { mayBeMade } = { mayBeMade: true }): SecretsKeys {
  const keys = readKeys(path);
  if (keys !== null) return keys;
  if (mayBeMade) return makeKey(path);
  throw new SecretsKeyError(
    "secrets_key_missing",
    `${path} is missing, and the secrets in the store were sealed with the key in it: restore this file, or set ` +
      "HOLDFAST_SECRETS_KEY to that key",
  );
}

function readKeys(path: string): SecretsKeys | null {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw unusable(path, error);
  }
  try {
    const { mode } = fstatSync(file);
    if ((mode & 0o077) !== 0) {
      throw new SecretsKeyError(
        "secrets_key_missing",
        `${path} holds the key of all secrets and others may read it (mode ${(mode & 0o777).toString(8)}): chmod 600 it`,
      );
    }
    return parseSecretsKeys(readFileSync(file, "utf8").trim(), path);
  } finally {
    closeSync(file);
  }
}

/** Under another name first: a process that dies here must not leave half a key under the right one. */
function makeKey(path: string): SecretsKeys {
  const draft = `${path}.${process.pid}.${randomBytes(4).toString("hex")}`;
  try {
    const file = openSync(draft, "wx", MODE);
    try {
      writeSync(file, `${randomBytes(KEY_BYTES).toString("base64")}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    try {
      linkSync(draft, path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    } finally {
      unlinkSync(draft);
    }
  } catch (error) {
    throw unusable(path, error);
  }
  const keys = readKeys(path);
  if (keys === null) throw unusable(path, { code: "removed" });
  return keys;
}

function unusable(path: string, error: unknown): SecretsKeyError {
  const { code } = error as NodeJS.ErrnoException;
  return new SecretsKeyError(
    "secrets_key_missing",
    `${path}, where the key of all secrets belongs, cannot be used (${code}): make it accessible, or set HOLDFAST_SECRETS_KEY`,
    { cause: error },
  );
}
