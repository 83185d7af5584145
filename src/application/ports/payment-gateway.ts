import type { PendingAnswer } from "../../domain/payment/facts";
import type { OperationKind } from "../../domain/payment/operation";
import type { Money } from "../../domain/money";
import type { GatewayPicture } from "../../domain/payment/picture/gateway-picture";

/**
 * Moves money. Every method MUST
 * - resolve for everything that can happen on the way; a rejection is a defect in the adapter (and is treated as `unknown`);
 * - answer `succeeded`, `declined` or `authorization_gone` only if the gateway itself has recorded that for this key;
 * - answer `not_sent` only if the request certainly did not reach the gateway (refused connection, no such host, 429);
 * - answer `mismatch` if the gateway shows what this key cannot have done and what leaves it nothing to do, as a capture
 *   made elsewhere does to a void and to another capture: evidence for a person, and no answer to the key;
 * - answer `pending` only if the gateway has taken the order and will say by itself what becomes of it: it is never sent
 *   again then, only asked about (`find`);
 * - answer `requires_action` only to an authorization that had a `returnUrl`, while nothing is reserved and the customer has to
 *   act at `url` first; without one, refuse with the reason `authentication_required`. A void ends it, and no money is
 *   reserved by it then, whatever the customer still does;
 * - answer `unknown` for the rest: timed out, reset, a 5xx, an answer that makes no sense;
 * - move money at most once per gateway key, however often and concurrently it is sent.
 */
export interface PaymentGateway {
  /** How long the gateway remembers a key. After that a resend might move money again, so there is none. */
  readonly remembersKeysForMs: number;
  /**
   * How long the gateway takes at most to decide what it has answered `pending` about. After that a person has to look.
   * Left out: seven days. An answer can name a time of its own (`decidesBy`).
   */
  readonly decidesWithinMs?: number | undefined;

  authorize(request: AuthorizeRequest): Promise<GatewayAnswer>;
  capture(request: MovementRequest): Promise<GatewayAnswer>;
  void(request: MovementRequest): Promise<GatewayAnswer>;
  refund(request: MovementRequest): Promise<GatewayAnswer>;

  /** What the gateway has recorded for this key. Moves nothing. */
  find(request: FindRequest): Promise<FindAnswer>;

  /**
   * How the gateway sees the whole payment, movements that others made included. Moves nothing. Absent where the gateway
   * has no such view: then only what became of our own keys is known. A gateway that has it MUST
   * - show what is there when it is asked, whole: half a list of refunds is `unknown`;
   * - name the operation of each movement that came by a key of ours, and no operation for one that did not;
   * - answer `unknown` where an amount cannot be said in the payment's own unit.
   */
  picture?(request: PictureRequest): Promise<PictureAnswer>;
}

export interface PictureRequest {
  readonly paymentId: string;
  /** What was authorized: in this currency and unit the picture is drawn. */
  readonly amount: Money;
  readonly authorizationReference: string;
  /** As in the payment's own requests. */
  readonly account?: string;
  /** Give up, with `unknown`, after this. */
  readonly timeoutMs: number;
}

export type PictureAnswer =
  | { readonly outcome: "seen"; readonly picture: GatewayPicture }
  | { readonly outcome: "unknown"; readonly reason: string };

export interface MovementRequest {
  /** The idempotency key at the gateway. */
  readonly gatewayKey: string;
  readonly operationId: string;
  readonly paymentId: string;
  readonly amount: Money;
  /** The account at the gateway in which all of the payment happens; left out: the one of the gateway's own settings. */
  readonly account?: string;
  /** The gateway's reference of the authorization this movement belongs to. */
  readonly authorizationReference: string;
  /** Give up, with `unknown`, after this. */
  readonly timeoutMs: number;
}

export interface AuthorizeRequest extends Omit<MovementRequest, "authorizationReference"> {
  readonly paymentMethod: string;
  /** Where the customer can be sent back to; left out: the caller cannot send them anywhere. The same whenever it is sent again. */
  readonly returnUrl?: string;
}

export interface FindRequest extends Omit<MovementRequest, "authorizationReference"> {
  readonly kind: OperationKind;
  /** Of the authorization itself: what a pending answer called it; null where the gateway has not called it anything. */
  readonly authorizationReference: string | null;
}

/** The gateway has recorded this for the key, for good. */
export type RecordedAnswer =
  | {
      readonly outcome: "succeeded";
      readonly reference: string;
      /** Of an authorization: when the gateway lets the money go by itself, if it says so. */
      readonly expiresAt?: Date;
    }
  | { readonly outcome: "declined"; readonly reason: string }
  /** `cancelled`: somebody let the money go; else the gateway did so by itself, or does not say. */
  | { readonly outcome: "authorization_gone"; readonly reason: string; readonly cancelled?: true };

/** Something was found that does not fit (another amount, not our id): a person has to look at it. */
export interface Mismatch {
  readonly outcome: "mismatch";
  readonly evidence: string;
  /** What the gateway calls that which was found, if it is one thing. */
  readonly reference?: string;
  /** The money was taken: a void has certainly not moved it. */
  readonly captured?: true;
}

/** Of an authorization: the customer has to act first. Told for as long as that is so. */
export interface ActionRequired {
  readonly outcome: "requires_action";
  /** What the gateway calls the authorization that is waiting. */
  readonly reference: string;
  /** Where the customer's browser is sent. One that begins with `/` is a page of the simulated gateway, on this server. */
  readonly url: string;
  /** Until when the gateway waits, if it says so. */
  readonly until?: Date;
}

export type GatewayAnswer =
  | RecordedAnswer
  | PendingAnswer
  | ActionRequired
  | Mismatch
  /** `refused`: the gateway does not let this service act in that account, and will not until a person changes that. */
  | { readonly outcome: "not_sent"; readonly reason: string; readonly refused?: true }
  | { readonly outcome: "unknown"; readonly reason: string };

export type FindAnswer =
  | RecordedAnswer
  | ActionRequired
  | Mismatch
  /** The gateway does not know this key *yet*: the request may still be on its way. Never closes an operation. */
  | { readonly outcome: "absent" }
  /** The gateway has the request and has not decided. */
  | PendingAnswer
  | { readonly outcome: "unknown"; readonly reason: string };
