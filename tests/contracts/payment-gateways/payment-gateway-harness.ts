import type { AuthorizationLookup } from "../../../src/application/ports/authorization-lookup";
import type { PaymentGateway } from "../../../src/application/ports/payment-gateway";
import type { OperationKind } from "../../../src/domain/payment/operation";

/** What can happen to one request, and be made to happen. */
export const situations = [
  "refused",
  "authorization_gone",
  /** Acted; the caller hears nothing. */
  "silent_after_acting",
  /** Did not act, recorded nothing; the caller hears nothing. */
  "silent_before_acting",
  /** Silent; lands when time passes. */
  "lands_late",
  /** A refund that succeeds, and fails when time passes. */
  "fails_later",
  /** A 5xx for which nothing was done or recorded. */
  "server_error",
  /** A 5xx that the key answers with from now on. */
  "stored_server_error",
  /** The same, but the money did move. */
  "stored_server_error_after_acting",
  "unreachable",
  /** Accepted; decided when time passes. */
  "undecided",
  /** Answers, but only after a minute. */
  "too_slow",
  /** A success that is no JSON. */
  "nonsense_after_acting",
  "reset_before_acting",
  "reset_after_acting",
  /** Somebody else captures the authorization before it arrives, and not through us. */
  "captured_elsewhere",
  /** Somebody else does so when time passes: after an authorization, or after a capture. */
  "captured_elsewhere_later",
  "voided_elsewhere_later",
  "refunded_elsewhere_later",
  "disputed_later",
] as const;

/** In which of them somebody else acts later, after an operation of this kind. */
export const actsLater: Partial<Record<Situation, OperationKind>> = {
  captured_elsewhere_later: "authorize",
  voided_elsewhere_later: "authorize",
  refunded_elsewhere_later: "capture",
  disputed_later: "capture",
};
export type Situation = (typeof situations)[number];

export interface PaymentGatewayHarness {
  readonly name: string;
  /** What `start` can bring about for this kind. */
  canBring(kind: OperationKind, situation: Situation): boolean;
  /** Whether `find` knows of refusals, or only the key itself does. */
  findsRefusals(kind: OperationKind): boolean;
  /** Whether `find` can look for an authorization whose reference never arrived. */
  readonly findsAuthorizations: boolean;
  start(): Promise<GatewayUnderTest>;
}

export interface GatewayUnderTest {
  readonly gateway: PaymentGateway & AuthorizationLookup;
  /** A payment method whose next operation of this kind meets the situation, at its first send. */
  paymentMethod(kind?: OperationKind, situation?: Situation): string;
  /** The reference of an authorization of 50.00 EUR that somebody else has made, for this merchant or for nobody. */
  madeElsewhere(merchant: string | null): Promise<string>;
  /** What the gateway itself says has moved, in order. */
  moves(paymentId: string): Promise<readonly { readonly kind: OperationKind; readonly amount: bigint }[]>;
  /** What is still held on the customer's card. */
  reserved(paymentId: string, authorizationReference: string): Promise<bigint>;
  /** Everything late has landed and everything undecided is decided. */
  timePasses(): Promise<void>;
  stop(): Promise<void>;
}
