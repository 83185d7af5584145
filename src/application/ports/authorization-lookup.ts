import type { Money } from "../../domain/money";

/**
 * Asks the gateway about an authorization that was made elsewhere (a card authorized in a browser) and is to be
 * imported. A gateway MUST
 * - move nothing and change nothing by it;
 * - resolve for everything that can happen on the way;
 * - answer `found` only for money that is reserved now and can be captured whole;
 * - answer `not_found` only if it has said itself that there is no such authorization;
 * - say with whatever it has seen whose it is: to everybody else it does not exist.
 */
export interface AuthorizationLookup {
  lookupAuthorization(request: LookupRequest): Promise<LookupAnswer>;
}

export interface LookupRequest {
  /** What the gateway calls the authorization. */
  readonly reference: string;
  /** The account at the gateway in which it is looked for; left out: the one of the gateway's own settings. */
  readonly account?: string;
  /** Give up, with `unknown`, after this. */
  readonly timeoutMs: number;
}

export type LookupAnswer =
  | SeenAuthorization
  | { readonly outcome: "not_found" }
  /** The gateway gave no answer, whatever it was asked about. `refused`: nor will it until a person changes something. */
  | { readonly outcome: "unknown"; readonly reason: string; readonly refused?: true };

/** `merchant` is whom the gateway's own record of it names; null if nobody. */
export type SeenAuthorization =
  | {
      readonly outcome: "found";
      readonly merchant: string | null;
      readonly authorization: ForeignAuthorization;
    }
  /** It is there, and there is nothing to capture. */
  | { readonly outcome: "not_capturable"; readonly merchant: string | null; readonly reason: string }
  /** It is there, and the gateway has not decided about it yet. */
  | { readonly outcome: "undecided"; readonly merchant: string | null; readonly reason: string };

export interface ForeignAuthorization {
  /** The canonical one: two spellings must not become two payments. */
  readonly reference: string;
  readonly amount: Money;
  /** When the gateway lets the money go by itself, if it says so. */
  readonly expiresAt: Date | null;
  /** The payment that it was made for, if it was made by us: it cannot be imported as another one. */
  readonly paymentId: string | null;
}
