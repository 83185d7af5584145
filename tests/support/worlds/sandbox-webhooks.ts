import { randomBytes } from "node:crypto";
import type { SandboxWebhooks } from "../../../src/infrastructure/sandboxes/simulated-worlds";
import { AesSecretBox } from "../../../src/infrastructure/secrets/aes-secret-box";
import { parseSecretsKeys } from "../../../src/infrastructure/secrets/secrets-keys";

/** For sandboxes that have no endpoints: nothing may be sent from them. */
export function silentWebhooks(change: Partial<SandboxWebhooks> = {}): SandboxWebhooks {
  const key = randomBytes(32).toString("base64");
  return {
    sender: {
      send: () => {
        throw new Error("nothing was to be sent from here");
      },
    },
    destinations: { assertAllowed: async (url) => url },
    secrets: new AesSecretBox(() => parseSecretsKeys(key, "the test")),
    observer: {
      attempted: () => {},
      disabled: () => {},
      failed: (error) => {
        throw error;
      },
    },
    ...change,
  };
}
