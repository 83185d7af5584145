import { showAudit } from "./audit/show-audit";
import { showAttention } from "./attention/show-attention";
import { keyRoutes } from "./keys/key-routes";
import { showLocks } from "./locks/show-locks";
import { paymentRoutes } from "./payments/payment-routes";
import { reviewRoutes } from "./reviews/review-routes";
import { sandboxRoutes } from "./sandboxes/sandbox-routes";
import type { ConsoleRoute } from "./serving/console-route";
import { webhookRoutes } from "./webhooks/webhook-routes";

/** Every page of the console but signing in, and everything that can be done on one. */
export const consoleRoutes: readonly ConsoleRoute[] = [
  showAttention,
  ...paymentRoutes,
  ...reviewRoutes,
  showLocks,
  ...webhookRoutes,
  ...sandboxRoutes,
  ...keyRoutes,
  showAudit,
];
