import { isLoopback } from "../server/listening-rule";
import { text } from "./wire-values";

const MAX_LENGTH = 2_048;

/** Where a browser is sent: over TLS, or to this machine. A URL with credentials would show them to whoever sees it. */
export const returnUrlIn = text(MAX_LENGTH)
  .refine(isWebAddress, "is not an https URL, or http on loopback")
  .refine(isWithoutCredentials, "contains credentials")
  .refine(hasPlainHost, "has a host with characters other than letters, digits, `.`, `-` and `_`")
  .meta({
    description:
      "Where the customer comes back to, if the gateway sends them to a page of its own: https, or http on loopback. Without " +
      "it, a card that needs this is declined (`authentication_required`).",
  });

function isWebAddress(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === "https:" || (protocol === "http:" && isLoopback(hostname));
}

/** A browser takes `;` and `*` in the name of a host, where they would say something else in a policy. */
export function isPlainHost(hostname: string): boolean {
  return /^[\w.-]+$/.test(hostname);
}

function hasPlainHost(value: string): boolean {
  if (!URL.canParse(value)) return true;
  const { hostname } = new URL(value);
  return hostname === "" || hostname.startsWith("[") || isPlainHost(hostname);
}

function isWithoutCredentials(value: string): boolean {
  if (!URL.canParse(value)) return true;
  const { username, password } = new URL(value);
  return username === "" && password === "";
}
