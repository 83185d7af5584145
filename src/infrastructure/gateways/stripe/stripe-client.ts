import { createRequire } from "node:module";
import type Stripe from "stripe";
import type { StripeTransport } from "./stripe-transport";

/** `HOLDFAST_STRIPE_URL` in three parts. Throws, in words, on what is no base address. */
export function stripeAddress(url: string): { host: string; port: string; protocol: "http" | "https" } {
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (
    parsed === null ||
    (parsed.protocol !== "http:" && parsed.protocol !== "https:") ||
    parsed.pathname !== "/" ||
    parsed.search + parsed.hash + parsed.username + parsed.password !== ""
  ) {
    throw new Error("the address of Stripe must be http(s)://host or http(s)://host:port, without a path");
  }
  const protocol = parsed.protocol === "http:" ? "http" : "https";
  return {
    host: parsed.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: parsed.port === "" ? (protocol === "http" ? "80" : "443") : parsed.port,
    protocol,
  };
}

/** The package is loaded here, on the first call, and nowhere else. */
export function openStripeClient(
  apiKey: string,
  url: string | undefined,
  transport: StripeTransport,
): Stripe.Stripe {
  const load = createRequire(__filename);
  const StripeClient = load("stripe") as typeof Stripe;
  return new StripeClient(apiKey, {
    ...(url === undefined ? {} : stripeAddress(url)),
    httpClient: transport,
    maxNetworkRetries: 0,
    telemetry: false,
  });
}
