import { listAudit } from "./audit/list-audit";
import type { DocumentedEndpoint } from "./endpoint";
import { customerEndpoints, sandboxCustomerEndpoints } from "./customer/customer-endpoints";
import { catchUpWithGateway } from "./gateway/catch-up-with-gateway";
import { listGatewayMoves } from "./gateway/list-gateway-moves";
import { observePayment } from "./gateway/observe-payment";
import { receiveStripeAccountEvent, receiveStripeEvent } from "./gateway/receive-stripe-event";
import { paymentEndpoints } from "./payments/payment-endpoints";
import { reviewEndpoints } from "./reviews/review-endpoints";
import { sandboxEndpoints } from "./sandboxes/sandbox-endpoints";
import { listLocks } from "./service/list-locks";
import { serviceEndpoints } from "./service/service-endpoints";
import { webhookEndpoints } from "./webhooks/webhook-endpoints";
import { showMetrics } from "./service/show-metrics";

/** Every endpoint that an instance may have, as the document lists them. */
export const documentedEndpoints: readonly DocumentedEndpoint[] = [
  ...paymentEndpoints,
  ...webhookEndpoints,
  ...reviewEndpoints,
  listAudit,
  ...sandboxEndpoints,
  ...customerEndpoints,
  ...sandboxCustomerEndpoints,
  listGatewayMoves,
  observePayment,
  receiveStripeEvent,
  receiveStripeAccountEvent,
  catchUpWithGateway,
  listLocks,
  ...serviceEndpoints,
  showMetrics,
];
