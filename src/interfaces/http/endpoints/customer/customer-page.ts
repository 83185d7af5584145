import type { Response } from "express";
import type { CustomerPage } from "../../../../application/ports/customer/customer-pages";
import { formatMoney } from "../../../../domain/money";
import type { PaymentFacts } from "../../../../domain/payment/facts";
import { isPlainHost } from "../../requests/return-url";
import { document, escaped } from "./customer-document";

type Shown = Pick<PaymentFacts, "merchant" | "amount" | "reference">;

/** The simulated gateway's page for the customer of a payment. */
export function customerPage(page: CustomerPage, payment: Shown, secret: string): string {
  const { href, host } = new URL(page.returnUrl);
  return document(`<p>${asked(payment)}</p>
    ${page.state === "waiting" ? form(secret) : `<p>${ended[page.state]}</p>`}
    <p><a href="${escaped(href)}">Back to ${escaped(host)}</a></p>`);
}

function asked({ merchant, amount, reference }: Shown): string {
  const what = reference === null ? "" : ` (${escaped(reference)})`;
  return `${escaped(merchant)} wants to reserve ${escaped(formatMoney(amount))}${what}.`;
}

/** Sent to the address of the page without its query, so that the secret is in no address from then on. */
function form(secret: string): string {
  return `<form method="post" action="?">
      <input type="hidden" name="secret" value="${escaped(secret)}">
      <button name="decision" value="confirm">Confirm</button>
      <button name="decision" value="decline">Decline</button>
    </form>`;
}

const ended = {
  confirmed: "You have confirmed this payment.",
  declined: "You have declined this payment.",
  ended: "This payment is over: nothing can be confirmed any more, and no money is reserved.",
} as const satisfies Record<Exclude<CustomerPage["state"], "waiting">, string>;

/**
 * Nothing but the form runs or loads, and no other page may put this one into a frame. `same-origin`: the site that the
 * customer goes back to does not see the address with its secret, and a form sent from here still says where it is from.
 */
export function protect(response: Response, { returnUrl }: CustomerPage): void {
  const policy = [
    "default-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    // A browser also applies it to where the answer to the form redirects.
    `form-action 'self' ${sourceOf(new URL(returnUrl))}`,
  ];
  response.setHeader("Content-Security-Policy", policy.join("; "));
  response.setHeader("X-Frame-Options", "DENY");
  response.setHeader("Referrer-Policy", "same-origin");
}

/** A policy cannot name an IPv6 address, nor what the name of a host should not hold. */
function sourceOf({ origin, hostname, protocol }: URL): string {
  return isPlainHost(hostname) ? origin : protocol;
}
