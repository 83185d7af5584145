import type { PaymentId } from "../../../domain/identifiers";

/**
 * The page of the simulated gateway on which a customer confirms or declines. Its secret is the right to act: an adapter
 * MUST answer null for any other, as for a payment that has no page, and count a decision once, while it is waited for.
 */
export interface CustomerPages {
  show(paymentId: PaymentId, secret: string): Promise<CustomerPage | null>;
  decide(paymentId: PaymentId, secret: string, decision: CustomerDecision): Promise<CustomerPage | null>;
}

export type CustomerDecision = "confirm" | "decline";

export interface CustomerPage {
  /** `ended`: it was let go, before or after the customer had confirmed, and nothing was taken. */
  readonly state: "waiting" | "confirmed" | "declined" | "ended";
  readonly returnUrl: string;
}
