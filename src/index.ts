/** `holdfast`: payments that are captured exactly once, in a process of your own. */
export {
  openHoldfast,
  type EmbeddedRouter,
  type Holdfast,
} from "./infrastructure/composition/embedding/open-holdfast";
export type { HoldfastOptions } from "./infrastructure/composition/embedding/holdfast-options";
export type { EmbeddedCaller } from "./interfaces/embedded/embedded-caller";
export type { EmbeddedPayments, Moved } from "./interfaces/embedded/embedded-payments";
export {
  PaymentError,
  type InProgress,
  type PaymentErrorCode,
  type PaymentErrorFacts,
} from "./domain/payment/errors";
export type * from "./interfaces/client/generated/schemas";
export type { Operations } from "./interfaces/client/generated/operations";
