import { z } from "zod";
import type { AskKeyOwner } from "../../../../application/ports/accounts/account-secrets";
import { openStripeClient } from "../stripe-client";
import { meaningOf } from "../stripe-errors";
import { StripeTransport } from "../stripe-transport";

const TIMEOUT_MS = 10_000;
const ownAccount = z.object({ object: z.literal("account"), id: z.string().regex(/^acct_\w{1,250}$/) });

/** By `GET /v1/account`, which a key that may do little is refused. */
export function stripeKeyOwner(url: string | null): AskKeyOwner {
  return async (key) => {
    const transport = new StripeTransport();
    try {
      const stripe = openStripeClient(key, url ?? undefined, transport);
      const account = ownAccount.safeParse(
        await stripe.accounts.retrieveCurrent({}, { timeout: TIMEOUT_MS }),
      ).data;
      if (account !== undefined) return { outcome: "found", account: account.id };
      return { outcome: "unknown", reason: "an answer that makes no sense" };
    } catch (error) {
      const { statusCode } = error as { readonly statusCode?: unknown };
      if (statusCode === 403) return { outcome: "not_said" };
      return { outcome: statusCode === 401 ? "refused" : "unknown", reason: meaningOf(error).reason };
    } finally {
      transport.close();
    }
  };
}
