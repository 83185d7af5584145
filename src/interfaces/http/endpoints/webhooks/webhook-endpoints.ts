import type { Endpoint } from "../endpoint";
import { changeWebhookEndpoint } from "./change-webhook-endpoint";
import { createWebhookEndpoint } from "./create-webhook-endpoint";
import { deleteWebhookEndpoint } from "./delete-webhook-endpoint";
import { listWebhookDeliveries } from "./list-webhook-deliveries";
import { listWebhookEndpoints } from "./list-webhook-endpoints";
import { redeliverWebhook } from "./redeliver-webhook";
import { replayWebhooks } from "./replay-webhooks";
import { rotateWebhookSecret } from "./rotate-webhook-secret";
import { showWebhookEndpoint } from "./show-webhook-endpoint";
import { testWebhookEndpoint } from "./test-webhook-endpoint";
import type { WebhookParts } from "./webhook-parts";

/** Where merchants are told what happens, and what became of telling them. */
export const webhookEndpoints: readonly Endpoint<WebhookParts>[] = [
  createWebhookEndpoint,
  listWebhookEndpoints,
  showWebhookEndpoint,
  changeWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  testWebhookEndpoint,
  listWebhookDeliveries,
  redeliverWebhook,
  replayWebhooks,
];
