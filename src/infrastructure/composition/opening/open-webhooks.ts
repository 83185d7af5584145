import type { Container } from "inversify";
import { randomBytes } from "node:crypto";
import { SecretsKeyError, type SecretBox } from "../../../application/ports/events/secret-box";
import type { StoredSecret } from "../../../application/ports/events/webhook-endpoint-store";
import { secretOf } from "../../../application/webhooks/opened-secrets";
import { DispatchWebhooks } from "../../../application/webhooks/dispatch-webhooks";
import { ManageWebhookEndpoints } from "../../../application/webhooks/manage-webhook-endpoints";
import { RedeliverWebhooks } from "../../../application/webhooks/redeliver-webhooks";
import type { WebhookContext } from "../../../application/webhooks/webhook-context";
import { webhookLimits } from "../../../application/webhooks/webhook-limits";
import { ConfigurationError, type EffectiveSettings } from "../../configuration/configuration";
import { AesSecretBox, SEALED_BY_LENGTH } from "../../secrets/aes-secret-box";
import { secretsKeysInFile } from "../../secrets/secrets-key-file";
import { parseSecretsKeys, type SecretsKeys } from "../../secrets/secrets-keys";
import { webhookGauges, webhookTelemetry } from "../../telemetry/webhook-telemetry";
import type { SandboxWebhooks } from "../../sandboxes/simulated-worlds";
import { SystemClock } from "../../time/system-clock";
import { GuardedDestinations } from "../../webhooks/guarded-destinations";
import { UndiciWebhookSender } from "../../webhooks/undici-webhook-sender";
import { secretsKeyFileBeside } from "./open-store";
import { tokens } from "../container/tokens";

export interface OpenWebhooks {
  readonly endpoints: ManageWebhookEndpoints;
  readonly deliveries: RedeliverWebhooks;
  readonly forSandboxes: SandboxWebhooks;
  /** Delivers, until `close`. */
  start(): void;
  close(): Promise<void>;
}

/** Shorter than for live webhooks: a test that plays ten attempts at a silent receiver waits for each. */
const SANDBOX_ATTEMPT_MS = 2_000;

/** Webhooks of this instance. Throws `ConfigurationError` where secrets are stored that its key does not open. */
export async function openWebhooks(container: Container): Promise<OpenWebhooks> {
  const { settings } = container.get(tokens.configuration);
  const allowed = settings.webhooksAllow.value;
  const store = container.get(tokens.webhookStore);
  const clock = container.get(tokens.clock);
  const registry = container.get(tokens.metrics);
  const logger = container.get(tokens.logger);
  const stored = await store.endpoints.secretsByBeginning(clock.now(), SEALED_BY_LENGTH);
  const secrets = new AesSecretBox(() => keysOf(settings, stored.length > 0));
  assertReadable(settings, secrets, stored);
  const sender = new UndiciWebhookSender(allowed);
  const sandboxSender = new UndiciWebhookSender(allowed, { attemptMs: SANDBOX_ATTEMPT_MS });
  const destinations = new GuardedDestinations(allowed);
  webhookGauges(registry, store, () => clock.now());
  const context: WebhookContext = {
    store,
    feed: container.get(tokens.eventFeed),
    sender,
    secrets,
    clock,
    wallClock: new SystemClock(),
    monotonicMs: () => performance.now(),
    ids: container.get(tokens.ids),
    random: Math.random,
    observer: webhookTelemetry(registry, logger),
    limits: webhookLimits,
  };
  const dispatch = new DispatchWebhooks(context);
  const lookAtOnce = (): void => dispatch.nudge();
  const endpoints = new ManageWebhookEndpoints({
    ...context,
    destinations,
    randomBytes,
    onListening: lookAtOnce,
  });
  const deliveries = new RedeliverWebhooks({ ...context, endpoints, onEnqueued: lookAtOnce });
  return {
    endpoints,
    deliveries,
    forSandboxes: {
      sender: sandboxSender,
      destinations,
      secrets,
      // What happens in a sandbox is its merchant's: the service counts none of it.
      observer: {
        attempted: () => {},
        disabled: () => {},
        failed: (error) => logger.warn({ err: error }, "delivering a sandbox's webhooks failed"),
      },
    },
    start: () => dispatch.start(),
    close: async () => {
      await dispatch.stop();
      await Promise.all([sender.close(), sandboxSender.close()]);
    },
  };
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
        "secrets of webhooks are sealed in the store, and this server has no key for them: set HOLDFAST_SECRETS_KEY to " +
          "32 bytes in base64, the same for all instances",
      );
  }
}

/** Told at start, and not by the first delivery that cannot be signed: one secret of each key is opened. */
function assertReadable(
  { secretsKey, store }: EffectiveSettings,
  secrets: SecretBox,
  stored: readonly StoredSecret[],
): void {
  try {
    for (const { endpointId: id, sealed } of stored) secrets.open(sealed, secretOf({ id }));
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
