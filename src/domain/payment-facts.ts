import type { IdempotencyKey, MerchantId, OperationId, PaymentId } from "./identifiers";
import type { Money } from "./money";
import type { Operation } from "./operation";
import type { PaymentStatus } from "./payment-transitions";

/** Everything that is stored of a payment. */
export interface PaymentFacts {
  readonly id: PaymentId;
  readonly merchant: MerchantId;
  readonly status: PaymentStatus;
  /** What was, or is to be, authorized. */
  readonly amount: Money;
  /** Empty for an authorization that was made elsewhere. */
  readonly paymentMethod: string;
  readonly reference: string | null;
  readonly metadata: Readonly<Record<string, string>>;
  /** What the gateway calls the authorization. */
  readonly authorizationReference: string | null;
  readonly createdAt: Date;
  readonly authorizedAt: Date | null;
  readonly expiresAt: Date;
  readonly updatedAt: Date;
  /** In the order in which they began. */
  readonly operations: readonly Operation[];
  /** How many events there are, those not yet stored included. */
  readonly eventCount: number;
}

/** What a caller sees as the status: the open operation, if there is one, else what is stored. */
export type VisibleStatus = PaymentStatus | "capturing" | "voiding" | "refunding";

export interface BeginOperation {
  readonly operationId: OperationId;
  readonly idempotencyKey: IdempotencyKey;
  readonly fingerprint: string;
}

/** What the gateway, or a person with evidence, says became of an operation. */
export type SettledAnswer =
  | {
      readonly outcome: "succeeded";
      readonly reference: string | null;
      /** Of an authorization: when the gateway lets the money go by itself, if it says so. */
      readonly expiresAt?: Date;
    }
  | { readonly outcome: "declined" | "authorization_gone"; readonly reason: string };

/** What the gateway says when it is asked about a key: an answer that is recorded for good, or why it has none. */
export type GatewayStatement =
  | SettledAnswer
  | { readonly outcome: "absent" | "pending" }
  | { readonly outcome: "unknown"; readonly reason: string }
  /** `captured`: what does not fit is that the money was taken. */
  | { readonly outcome: "mismatch"; readonly evidence: string; readonly captured?: true };

/** What a person found out about an operation that nobody else could decide. */
export interface ReviewVerdict {
  /** `pending`: it is not decided at the gateway either. The review goes on. */
  readonly outcome: "moved" | "not_moved" | "pending";
  readonly evidence: string;
  /** What the gateway calls the authorization or the movement, if the person knows it. */
  readonly gatewayReference: string | null;
  /** Why the verdict stands although the gateway says something else. */
  readonly overrideReason?: string | null;
}
