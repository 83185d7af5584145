import type { ToldError } from "../../problems/problem-details";
import { document, escaped } from "./customer-document";

/** What keeps the page from being shown, or the form from being taken, in words for a customer. */
export function customerProblemPage({ code, detail }: ToldError, requestId: string): string {
  return document(`<p>${escaped(leadsNowhere.has(code) ? NOWHERE : detail)}</p>
    <p>${escaped(code)}, request ${escaped(requestId)}</p>`);
}

/** The same words for all of these: they say nothing of what there is. */
const leadsNowhere: ReadonlySet<string> = new Set([
  "invalid_payment_id",
  "invalid_sandbox_id",
  "invalid_request",
  "payment_not_found",
  "sandbox_not_found",
]);
const NOWHERE =
  "This address leads to no payment. It may not be whole: go back to the shop, and start again from there.";
