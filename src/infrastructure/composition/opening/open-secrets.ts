import { randomBytes } from "node:crypto";
import { boundTo } from "../../../application/accounts/sealed-accounts";
import type { Clock } from "../../../application/ports/clock";
import { SecretsKeyError, type SecretBox } from "../../../application/ports/events/secret-box";
import { secretOf } from "../../../application/webhooks/opened-secrets";
import { ConfigurationError, type EffectiveSettings } from "../../configuration/configuration";
import { AesSecretBox, SEALED_BY_LENGTH } from "../../secrets/aes-secret-box";
import { secretsKeysInFile } from "../../secrets/secrets-key-file";
import { parseSecretsKeys, type SecretsKeys } from "../../secrets/secrets-keys";
import { secretsKeyFileBeside, type OpenStore } from "./open-store";

export interface OpenSecrets {
  /** The one box of this process. Asked for at first use: only whoever has secrets needs a key. */
  readonly box: () => Promise<SecretBox>;
  /**
   * The same box, to seal with. Throws `SecretsKeyError` where the store has secrets of a key that is not at hand: other
   * processes go by that key, and would not open what this one sealed.
   */
  readonly boxToSeal: () => Promise<SecretBox>;
  /** Throws `ConfigurationError` where secrets are stored that the key does not open: told at start, and not by first use. */
  readonly assertReadable: () => Promise<void>;
}

/** Something sealed in the store, and what it was sealed for. */
interface Sealed {
  readonly sealed: string;
  readonly boundTo: string;
}

export function openSecrets(
  settings: EffectiveSettings,
  store: Pick<OpenStore, "webhooks" | "merchantAccounts">,
  clock: Clock,
): OpenSecrets {
  let opened: Promise<{ readonly box: SecretBox; readonly stored: readonly Sealed[] }> | undefined;
  const open = async () => {
    const stored = await storedIn(store, clock);
    return { stored, box: new AesSecretBox(() => keysOf(settings, stored.length > 0)) };
  };
  // A store that does not answer is asked again the next time.
  const once = () =>
    (opened ??= open().catch((error: unknown) => {
      opened = undefined;
      throw error;
    }));
  return {
    box: async () => (await once()).box,
    boxToSeal: async () => {
      const { box } = await once();
      // Read anew: others may have sealed since this process was started.
      for (const { sealed } of await storedIn(store, clock)) box.assertKeyOf(sealed);
      return box;
    },
    assertReadable: async () => {
      const { box, stored } = await once();
      assertReadable(settings, box, stored);
    },
  };
}

/** Of secrets that were sealed with the same key, one is enough; accounts are few, and all of them are looked at. */
async function storedIn(
  { webhooks, merchantAccounts }: Pick<OpenStore, "webhooks" | "merchantAccounts">,
  clock: Clock,
): Promise<readonly Sealed[]> {
  const ofWebhooks = await webhooks.endpoints.secretsByBeginning(clock.now(), SEALED_BY_LENGTH);
  const ofAccounts = await merchantAccounts.known();
  return [
    ...ofWebhooks.map(({ endpointId: id, sealed }) => ({ sealed, boundTo: secretOf({ id }) })),
    ...ofAccounts.flatMap(({ account, key, webhookSecrets }) => [
      ...(key === null ? [] : [{ sealed: key, boundTo: boundTo.key(account) }]),
      ...(webhookSecrets === null
        ? []
        : [{ sealed: webhookSecrets, boundTo: boundTo.webhookSecrets(account) }]),
    ]),
  ];
}

function keysOf({ secretsKey, store }: EffectiveSettings, isNeeded: boolean): SecretsKeys {
  if (secretsKey.value !== null) return secretsKey.value;
  switch (store.value.kind) {
    case "sqlite":
      return secretsKeysInFile(secretsKeyFileBeside(store.value.file), { mayBeMade: !isNeeded });
    case "memory":
      // As long-lived as what it seals.
      return parseSecretsKeys(randomBytes(32).toString("base64"), "a key");
    case "postgres":
      throw new SecretsKeyError(
        "secrets_key_missing",
        "secrets are sealed in the store, and this server has no key for them: set HOLDFAST_SECRETS_KEY to " +
          "32 bytes in base64, the same for all instances",
      );
  }
}

function assertReadable(
  { secretsKey, store }: EffectiveSettings,
  box: SecretBox,
  stored: readonly Sealed[],
): void {
  try {
    for (const one of stored) box.open(one.sealed, one.boundTo);
  } catch (error) {
    if (!(error instanceof SecretsKeyError)) throw error;
    const { source, kind } = secretsKey;
    const isSet = secretsKey.value !== null;
    const inFile = store.value.kind === "sqlite" ? secretsKeyFileBeside(store.value.file) : null;
    throw new ConfigurationError([
      {
        source: isSet ? source : (inFile ?? "HOLDFAST_SECRETS_KEY"),
        // Whoever gave a flag gave a key, only not this one: never a usage error.
        kind: kind === "flag" || !isSet ? "environment" : kind,
        message: `cannot be used: ${error.message}`,
      },
    ]);
  }
}
