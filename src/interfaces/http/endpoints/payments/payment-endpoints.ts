import { capturePayments } from "../captures/capture-payments";
import { listEvents } from "../events/list-events";
import type { Endpoint } from "../endpoint";
import { authorizePayment } from "./authorize-payment";
import { capturePayment } from "./capture-payment";
import { listPaymentEvents } from "./list-payment-events";
import { listPayments } from "./list-payments";
import type { PaymentParts } from "./payment-parts";
import { refundPayment } from "./refund-payment";
import { showPayment } from "./show-payment";
import { voidPayment } from "./void-payment";

/** The payments of one world, and what is told of them. */
export const paymentEndpoints: readonly Endpoint<PaymentParts>[] = [
  authorizePayment,
  listPayments,
  showPayment,
  listPaymentEvents,
  capturePayment,
  capturePayments,
  voidPayment,
  refundPayment,
  listEvents,
];
