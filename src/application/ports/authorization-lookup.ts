import type { Money } from "../../domain/money";

/**
 * Asks the gateway about an authorization that was made elsewhere (a card authorized in a browser) and is to be
 * imported. A gateway MUST
 * - move nothing and change nothing by it;
 * - resolve for everything that can happen on the way;
 * - answer `found` only for money that is reserved now and can be captured whole;
 * - answer `not_found` only if it has said itself that there is no such authorization.
 */
export interface AuthorizationLookup {
  lookupAuthorization(request: LookupRequest): Promise<LookupAnswer>;
}

export interface LookupRequest {
  /** What the gateway calls the authorization. */
  readonly reference: string;
  /** Give up, with `unknown`, after this. */
  readonly timeoutMs: number;
}

export type LookupAnswer =
  | { readonly outcome: "found"; readonly authorization: ForeignAuthorization }
  | { readonly outcome: "not_found" }
  /** It is there, and there is nothing to capture. */
  | { readonly outcome: "not_capturable"; readonly reason: string }
  | { readonly outcome: "unknown"; readonly reason: string };

export interface ForeignAuthorization {
  /** The canonical one: two spellings must not become two payments. */
  readonly reference: string;
  readonly amount: Money;
  /** When the gateway lets the money go by itself, if it says so. */
  readonly expiresAt: Date | null;
  /** The payment that it was made for, if it was made by us: it cannot be imported as another one. */
  readonly paymentId: string | null;
}
