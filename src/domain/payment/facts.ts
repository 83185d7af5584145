import type { IdempotencyKey, MerchantId, PaymentId } from "../identifiers";
import type { Money } from "../money";
import type { PaymentLabels } from "../labels";
import type { Operation } from "./operation";
import type { SeenDispute } from "./picture/gateway-picture";
import type { PaymentStatus } from "./transitions";

/** Everything that is stored of a payment. */
export interface PaymentFacts extends PaymentLabels {
  readonly id: PaymentId;
  readonly merchant: MerchantId;
  readonly status: PaymentStatus;
  /** What was, or is to be, authorized. */
  readonly amount: Money;
  /** Empty for an authorization that was made elsewhere. */
  readonly paymentMethod: string;
  /** Where the customer comes back to after an action at the gateway; null where the caller cannot send them anywhere. */
  readonly returnUrl: string | null;
  /** In which account at the gateway it was authorized, and all of it happens; null: the common one. */
  readonly gatewayAccount: string | null;
  /** What the gateway calls the authorization. */
  readonly authorizationReference: string | null;
  /** Where the customer has to act. Null unless the authorization waits for that. */
  readonly actionUrl: string | null;
  readonly createdAt: Date;
  readonly authorizedAt: Date | null;
  readonly expiresAt: Date;
  readonly updatedAt: Date;
  /** In the order in which they began. */
  readonly operations: readonly Operation[];
  /** As the gateway said last. In the order in which they were heard of. */
  readonly disputes: readonly SeenDispute[];
  /** How many events there are, those not yet stored included. */
  readonly eventCount: number;
}

/** The request that an operation is bound to. */
export interface KeyedRequest {
  readonly idempotencyKey: IdempotencyKey;
  readonly fingerprint: string;
}

/** What the gateway, or a person with evidence, says became of an operation. */
export type SettledAnswer =
  | {
      readonly outcome: "succeeded";
      readonly reference: string | null;
      /** Of an authorization: when the gateway lets the money go by itself, if it says so. */
      readonly expiresAt?: Date | undefined;
    }
  | { readonly outcome: "declined"; readonly reason: string }
  /** `cancelled`: somebody let the money go; else the gateway did so by itself, or does not say. */
  | {
      readonly outcome: "authorization_gone";
      readonly reason: string;
      readonly cancelled?: true | undefined;
    };

/** Of an authorization: the customer has to act first, at a page of the gateway. */
export interface CustomerAction {
  readonly outcome: "requires_action";
  /** What the gateway calls the authorization that is waiting. */
  readonly reference: string;
  readonly url: string;
  /** Until when the gateway waits, if it says so. */
  readonly until?: Date | undefined;
}

/** The gateway has taken the order, and says later what becomes of it. */
export interface PendingAnswer {
  readonly outcome: "pending";
  /** What the gateway calls it, if it has a name for it already. */
  readonly reference?: string | undefined;
  /** Until when it decides, if it says so of this one. */
  readonly decidesBy?: Date | undefined;
}

/** What a question or a send came to, as far as it can be written down of an operation. */
export type GatewayVerdict =
  | SettledAnswer
  | CustomerAction
  | PendingAnswer
  /** The gateway does not know the key. Means something only where it has said before that it does. */
  | { readonly outcome: "absent" }
  | { readonly outcome: "unknown"; readonly reason: string }
  | {
      readonly outcome: "mismatch";
      readonly evidence: string;
      /** What the gateway calls that which was found, if it is one thing. */
      readonly reference?: string | undefined;
    };

/** What the gateway says when it is asked about a key: an answer that is recorded for good, or why it has none. */
export type GatewayStatement =
  | SettledAnswer
  | CustomerAction
  | PendingAnswer
  | { readonly outcome: "absent" }
  | { readonly outcome: "unknown"; readonly reason: string }
  /**
   * `captured`: what does not fit is that the money was taken. `otherAmount`: what was captured is another amount than the
   * operation's.
   */
  | {
      readonly outcome: "mismatch";
      readonly evidence: string;
      /** What the gateway calls that which was found, if it is one thing. */
      readonly reference?: string | undefined;
      readonly captured?: true | undefined;
      readonly otherAmount?: true | undefined;
    };

/** What a person found out about an operation that nobody else could decide. */
export interface ReviewVerdict {
  /** `pending`: it is not decided at the gateway either. The review goes on. */
  readonly outcome: "moved" | "not_moved" | "pending";
  readonly evidence: string;
  /** What the gateway calls the authorization or the movement, if the person knows it. */
  readonly gatewayReference: string | null;
  /** Why the verdict stands although the gateway says something else. */
  readonly overrideReason?: string | null | undefined;
}
