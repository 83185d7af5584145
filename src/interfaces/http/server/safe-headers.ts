import type { IncomingHttpHeaders } from "node:http";

/** Of every answer but the pages for people, which have a policy of their own: nothing here is to be shown or kept. */
export const safeHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Cache-Control", "no-store"],
  ["Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'"],
] as const;

/** Only over TLS, which ends in front of this server. A browser ignores it elsewhere, so it needs no trust to be told. */
export const STRICT_TRANSPORT = "max-age=31536000";

/** By the word of the proxy that is next to this server. */
export function cameOverTls({ "x-forwarded-proto": protocols }: IncomingHttpHeaders): boolean {
  if (typeof protocols !== "string") return false;
  return protocols.split(",").at(-1)?.trim().toLowerCase() === "https";
}
