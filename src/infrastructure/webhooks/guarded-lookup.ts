import { lookup as systemLookup, type LookupAddress } from "node:dns";
import type { LookupFunction } from "node:net";
import { parseIpAddress } from "./ip-address";
import { refusalOfAddress, type WebhookAllowances } from "./address-rules";

/** The address behind a name, or in its place, is not one that webhooks may go to. */
export class AddressForbiddenError extends Error {
  override readonly name = "AddressForbiddenError";
  readonly code = "ADDRESS_FORBIDDEN";

  constructor(host: string, address: string, refusal: string) {
    super(
      host === address || host === `[${address}]`
        ? `${address} is ${refusal}`
        : `${host} leads to ${address}, which is ${refusal}`,
    );
  }
}

export type Resolve = (
  host: string,
  done: (error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]) => void,
) => void;

/** As the host's own configuration has it; each look-up asks again, nothing is remembered here. */
export const resolveBySystem: Resolve = (host, done) =>
  systemLookup(host, { all: true }, (error, addresses) => done(error, error === null ? addresses : []));

/**
 * Hands a connection only addresses that are allowed, and none at all if one of them is not: what the connection is made
 * to is what was checked here, so a name that changes its mind afterwards gains nothing. It is not asked for what is an
 * address already: see `refusalOfHost`.
 */
export function guardedLookup(allowed: WebhookAllowances, resolve: Resolve): LookupFunction {
  return (host, options, done) => {
    resolve(host, (error, addresses) => {
      const refused = error === null ? firstRefusal(host, addresses, allowed) : error;
      const [first] = addresses;
      if (refused !== null || first === undefined) {
        const failure = refused ?? Object.assign(new Error(`${host} has no address`), { code: "ENOTFOUND" });
        done(failure, "", 0);
      } else if (options.all === true) done(null, [...addresses]);
      else done(null, first.address, first.family);
    });
  };
}

/** Of a host that is an address by itself, which nobody looks up. Null for a name, and for one that is allowed. */
export function refusalOfHost(host: string, allowed: WebhookAllowances): AddressForbiddenError | null {
  if (parseIpAddress(host) === null) return null;
  const refusal = refusalOfAddress(host, allowed);
  return refusal === null ? null : new AddressForbiddenError(host, host.replace(/^\[|\]$/g, ""), refusal);
}

export function firstRefusal(
  host: string,
  addresses: readonly LookupAddress[],
  allowed: WebhookAllowances,
): AddressForbiddenError | null {
  for (const { address } of addresses) {
    const refusal = refusalOfAddress(address, allowed);
    if (refusal !== null) return new AddressForbiddenError(host, address, refusal);
  }
  return null;
}
