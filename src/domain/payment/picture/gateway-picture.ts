/**
 * How the gateway sees a payment: all that has been done with its authorization, whoever did it. Amounts are in the
 * payment's own currency and minor unit.
 */
export interface GatewayPicture {
  /** `cancelled`: somebody let the money go. `lapsed`: the gateway did so by itself. `undecided`: it has not decided yet whether it is authorized, or captured, or let go. */
  readonly authorization: "undecided" | "open" | "captured" | "cancelled" | "lapsed";
  /** When the gateway lets the money go by itself, if it says so. */
  readonly authorizedUntil: Date | null;
  /** What was taken in all; null while nothing was. */
  readonly captured: SeenMovement | null;
  /** Of what is `cancelled`. */
  readonly cancellation: SeenCancellation | null;
  /** Each refund that the gateway keeps, whatever became of it. */
  readonly refunds: readonly SeenRefund[];
  readonly disputes: readonly SeenDispute[];
}

/** One movement of money, as the gateway keeps it. */
export interface SeenMovement {
  /** What the gateway calls it: never the same for two movements. */
  readonly reference: string;
  readonly amount: bigint;
  /** The operation that it names; null if it names none. */
  readonly operationId: string | null;
}

/** `by`: the operation that it names, nobody of ours, or nobody at all: many gateways keep no name with a cancellation. */
export interface SeenCancellation {
  readonly reference: string;
  readonly by: { readonly operationId: string } | "others" | "unnamed";
}

export interface SeenRefund extends SeenMovement {
  readonly state: "pending" | "succeeded" | "failed";
  /** The gateway's own words for a failure. */
  readonly reason: string | null;
}

export const disputeStatuses = ["needs_response", "under_review", "won", "lost", "closed"] as const;

/** `closed`: it ended without a decision, as an inquiry does that never became a dispute. */
export type DisputeStatus = (typeof disputeStatuses)[number];

/** The customer has gone to their bank about the payment. */
export interface SeenDispute {
  /** The gateway's own: never the same for two disputes. */
  readonly id: string;
  readonly status: DisputeStatus;
  readonly amount: bigint;
  /** The gateway's own word for it. */
  readonly reason: string;
  /** Until when evidence can be handed in; null if that is over, or not said. */
  readonly dueBy: Date | null;
}
