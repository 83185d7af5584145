import type { CustomerPages } from "../../../../application/ports/customer/customer-pages";
import type { PathIds } from "../endpoint";
import type { PaymentWorld } from "../payments/payment-parts";

/** The world of a payment, as far as its customer has to do with it. */
export type CustomerWorld = Pick<PaymentWorld, "readPayments" | "observePayment"> & {
  readonly customerPages: CustomerPages;
};

export interface CustomerParts {
  readonly inWorld: <T>(ids: Partial<PathIds>, work: (world: CustomerWorld) => Promise<T>) => Promise<T>;
  /** Where browsers reach the pages, whatever a proxy before them makes of the Host header. */
  readonly ownUrl: () => string;
}

/** Where the pages are, on every server. */
export const CUSTOMER_PAGES = "/simulated-gateway";
