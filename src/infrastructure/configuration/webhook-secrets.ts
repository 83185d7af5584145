import { SettingError } from "./setting-source";

/** Each costs one hash of every event's body. */
const MAX_WEBHOOK_SECRETS = 4;

export function parseWebhookSecrets(text: string): readonly string[] {
  const secrets = text.split(",").map((secret) => secret.trim());
  // Whatever is no signing secret verifies nothing, and a short one would let others sign.
  if (secrets.length > MAX_WEBHOOK_SECRETS || !secrets.every((one) => /^whsec_[\w-]{16,256}$/.test(one))) {
    throw new SettingError(
      `must be 1 to ${MAX_WEBHOOK_SECRETS} secrets that begin with whsec_, with commas between them`,
    );
  }
  return secrets;
}
