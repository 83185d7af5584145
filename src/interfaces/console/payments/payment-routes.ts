import type { ConsoleRoute } from "../serving/console-route";
import { listPayments } from "./list-payments";
import { movementRoutes } from "./move-payment";
import { observeRoutes } from "./observe-payment";
import { showPayment } from "./show-payment";

export const paymentRoutes: readonly ConsoleRoute[] = [
  listPayments,
  showPayment,
  ...movementRoutes,
  ...observeRoutes,
];
