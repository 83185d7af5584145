import type { Container } from "inversify";
import { randomBytes } from "node:crypto";
import { DispatchWebhooks } from "../../../application/webhooks/dispatch-webhooks";
import { ManageWebhookEndpoints } from "../../../application/webhooks/manage-webhook-endpoints";
import { RedeliverWebhooks } from "../../../application/webhooks/redeliver-webhooks";
import type { WebhookContext } from "../../../application/webhooks/webhook-context";
import { webhookLimits } from "../../../application/webhooks/webhook-limits";
import { webhookGauges, webhookTelemetry } from "../../telemetry/webhook-telemetry";
import type { SandboxWebhooks } from "../../sandboxes/simulated-worlds";
import { SystemClock } from "../../time/system-clock";
import { GuardedDestinations } from "../../webhooks/guarded-destinations";
import { UndiciWebhookSender } from "../../webhooks/undici-webhook-sender";
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
  const { box, boxToSeal, assertReadable } = container.get(tokens.openSecrets);
  await assertReadable();
  const secrets = await box();
  const sender = new UndiciWebhookSender(allowed);
  const traced = container.get(tokens.traceWebhooks)?.(sender) ?? sender;
  const sandboxSender = new UndiciWebhookSender(allowed, { attemptMs: SANDBOX_ATTEMPT_MS });
  const destinations = new GuardedDestinations(allowed);
  webhookGauges(registry, store, () => clock.now());
  const context: WebhookContext = {
    store,
    feed: container.get(tokens.eventFeed),
    sender: traced,
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
    boxToSeal,
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
