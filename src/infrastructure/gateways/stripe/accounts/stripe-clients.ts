import type Stripe from "stripe";
import type { AccountSecrets } from "../../../../application/ports/accounts/account-secrets";
import { AccountKeyError } from "../stripe-errors";

/** What goes with each call to Stripe: what is left of the request's time, in whole milliseconds, and whose account it is. */
export type CallOptions = () => { readonly timeout: number; readonly stripeAccount?: string };

/** Whom to ask for a request, and how. */
export interface StripeCall {
  readonly stripe: Stripe.Stripe;
  readonly options: CallOptions;
}

interface CalledIn {
  readonly timeoutMs: number;
  readonly account?: string;
}

export interface StripeClientParts {
  /** By the key of the server's own settings. */
  readonly common: Stripe.Stripe;
  /** By the key of a merchant's own account. All clients share one transport. */
  readonly open: (key: string) => Stripe.Stripe;
  readonly keyOf: AccountSecrets["keyOf"];
}

/** A client is a few objects, and made anew in a moment: more of them than are in use are not worth keeping. */
const MOST_CLIENTS = 100;

/**
 * The client for each account. One that has a key of its own is asked with it; any other is connected to that of the server,
 * and named. The key is read for each request: one that was replaced is used no more.
 */
export class StripeClients {
  /** By key, those used last at the end. */
  private readonly clients = new Map<string, Stripe.Stripe>();

  constructor(private readonly parts: StripeClientParts) {}

  /** One bound and one account for all the questions of one request. Rejects with `AccountKeyError`. */
  async call({ timeoutMs, account }: CalledIn): Promise<StripeCall> {
    const until = performance.now() + timeoutMs;
    const timeout = () => Math.max(1, Math.ceil(until - performance.now()));
    const key = account === undefined ? null : await this.keyOf(account);
    if (key !== null) return { stripe: this.clientOf(key), options: () => ({ timeout: timeout() }) };
    const named = account === undefined ? {} : { stripeAccount: account };
    return { stripe: this.parts.common, options: () => ({ timeout: timeout(), ...named }) };
  }

  private async keyOf(account: string): Promise<string | null> {
    try {
      return await this.parts.keyOf(account);
    } catch (error) {
      throw new AccountKeyError(account, error);
    }
  }

  private clientOf(key: string): Stripe.Stripe {
    const client = this.clients.get(key) ?? this.parts.open(key);
    this.clients.delete(key);
    this.clients.set(key, client);
    const [eldest] = this.clients.keys();
    if (this.clients.size > MOST_CLIENTS && eldest !== undefined) this.clients.delete(eldest);
    return client;
  }
}
