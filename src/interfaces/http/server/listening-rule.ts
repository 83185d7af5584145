import { isIPv4 } from "node:net";

/** Only this machine reaches it. */
export function isLoopback(host: string): boolean {
  const address = host.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  const mapped = address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
  if (isIPv4(mapped)) return mapped.startsWith("127.");
  return address === "::1" || address === "localhost";
}

/** Why the server must not listen there; null if it may. Without a key everybody who reaches it is an operator. */
export function refusalToListen(host: string, anyKeyEverCreated: boolean): string | null {
  if (anyKeyEverCreated || isLoopback(host)) return null;
  return (
    `refusing to listen on ${host}: there is no API key yet, so anyone who reaches the server could move money. ` +
    "Create one with `holdfast keys create --merchant <name> --operator`, or listen on 127.0.0.1."
  );
}
