import type { PaymentId } from "../../../domain/identifiers";

/**
 * What is kept of an event of the gateway: that there may be news of one of its authorizations. It is never evidence of
 * what the news is; the gateway is asked.
 */
export interface GatewayHint {
  /** The gateway's id of the event, which is the same in each copy of it. */
  readonly eventId: string;
  /** The account that the event is of; left out: the common one. A payment of another account is none of its business. */
  readonly account?: string;
  /** What the gateway calls the authorization. */
  readonly reference: string;
  /** The payment that the authorization is labelled with, for when its reference has not arrived here yet. */
  readonly labelled: PaymentId | null;
}
