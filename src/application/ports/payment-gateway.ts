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
 * - answer `unknown` for the rest: timed out, reset, a 5xx, an answer that makes no sense;
 * - move money at most once per gateway key, however often and concurrently it is sent.
 */
export interface PaymentGateway {
  /** How long the gateway remembers a key. After that a resend might move money again, so there is none. */
  readonly remembersKeysForMs: number;

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
}

export interface FindRequest extends Omit<MovementRequest, "authorizationReference"> {
  readonly kind: OperationKind;
  /** Null while the authorization itself is what is being looked for. */
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
  | { readonly outcome: "authorization_gone"; readonly reason: string };

/** Something was found that does not fit (another amount, not our id): a person has to look at it. */
export interface Mismatch {
  readonly outcome: "mismatch";
  readonly evidence: string;
  /** What the gateway calls that which was found, if it is one thing. */
  readonly reference?: string;
  /** The money was taken: a void has certainly not moved it. */
  readonly captured?: true;
}

export type GatewayAnswer =
  | RecordedAnswer
  | Mismatch
  | { readonly outcome: "not_sent"; readonly reason: string }
  | { readonly outcome: "unknown"; readonly reason: string };

export type FindAnswer =
  | RecordedAnswer
  | Mismatch
  /** The gateway does not know this key *yet*: the request may still be on its way. Never closes an operation. */
  | { readonly outcome: "absent" }
  /** The gateway has the request and has not decided. */
  | { readonly outcome: "pending" }
  | { readonly outcome: "unknown"; readonly reason: string };
