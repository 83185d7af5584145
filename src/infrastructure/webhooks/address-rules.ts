import { parseIpAddress, v4Of, type IpAddress } from "./ip-address";

/** What a configuration may open. Both are closed unless an operator says so. */
export interface WebhookAllowances {
  /** URLs without TLS. */
  readonly http: boolean;
  /** Addresses of this host and of private networks. */
  readonly private: boolean;
}

/** Addresses at which clouds tell whoever asks from inside the secrets of the machine: never, whatever is allowed. */
const METADATA = [
  "169.254.169.254",
  "169.254.169.253",
  "169.254.169.123",
  "169.254.170.2",
  "169.254.170.23",
  "169.254.0.23",
  "169.254.10.10",
  "169.254.42.42",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "fd00:ec2::254",
  "fd00:ec2::253",
  "fd00:ec2::123",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fe80::a9fe:a9fe",
].map((text) => parsed(text));

/** What is not the public IPv4 Internet, by IANA's registry of special-purpose addresses. */
const CLOSED_V4 = ranges({
  "0.0.0.0/8": "an address of no host",
  "10.0.0.0/8": "a private address",
  "100.64.0.0/10": "an address of a carrier's own network",
  "127.0.0.0/8": "an address of this host",
  "169.254.0.0/16": "a link-local address",
  "172.16.0.0/12": "a private address",
  "192.0.0.0/24": "a reserved address",
  "192.0.2.0/24": "an address for documentation",
  "192.31.196.0/24": "a reserved address",
  "192.52.193.0/24": "a reserved address",
  "192.88.99.0/24": "an address of a 6to4 relay",
  "192.168.0.0/16": "a private address",
  "192.175.48.0/24": "a reserved address",
  "198.18.0.0/15": "an address for benchmarks",
  "198.51.100.0/24": "an address for documentation",
  "203.0.113.0/24": "an address for documentation",
  "224.0.0.0/4": "a multicast address",
  "240.0.0.0/4": "a reserved address",
});

/** Inside 2000::/3, which is all of IPv6 that may be reached. */
const CLOSED_V6 = ranges({
  "2001::/23": "a reserved or translated address",
  "2001:db8::/32": "an address for documentation",
  "2002::/16": "a translated (6to4) address",
  "2620:4f:8000::/48": "a reserved address",
  "3ffe::/16": "a reserved address",
  "3fff::/20": "an address for documentation",
});
const GLOBAL_UNICAST_V6 = ranges({ "2000::/3": "" });

/** Where the IPv4 address is that a translated IPv6 address leads to, by how many bits it is shifted. */
const TRANSLATED = [
  { within: ranges({ "::/96": "" }), shift: 0n },
  { within: ranges({ "::ffff:0:0/96": "" }), shift: 0n },
  { within: ranges({ "::ffff:0:0:0/96": "" }), shift: 0n },
  { within: ranges({ "64:ff9b::/96": "" }), shift: 0n },
  { within: ranges({ "64:ff9b:1::/48": "" }), shift: 0n },
  { within: ranges({ "2002::/16": "" }), shift: 80n },
  { within: ranges({ "2001::/32": "" }), shift: 64n },
];
/** Teredo writes its client's address with all bits turned over. */
const TEREDO = ranges({ "2001::/32": "" });

/** What no setting opens, in the words of a refusal. */
export const METADATA_SERVICE = "a cloud's metadata service";

/** What somebody can do who was refused with these words. */
export function adviceOn(refusal: string): string {
  return refusal.includes(METADATA_SERVICE)
    ? "No setting allows it."
    : "The endpoint has to be on the public Internet, unless an operator allows others (--webhooks-allow private).";
}

/** In words why no webhook goes to this address; null if one may. What is no address is refused, too. */
export function refusalOfAddress(text: string, allowed: WebhookAllowances): string | null {
  const address = parseIpAddress(text);
  if (address === null) return "not an address";
  const leadsTo = [address, ...translatedIn(address)];
  if (leadsTo.some(isMetadata)) return `an address of ${METADATA_SERVICE}`;
  if (allowed.private) return null;
  if (address.bits === 32) return nameIn(CLOSED_V4, address);
  if (nameIn(GLOBAL_UNICAST_V6, address) === null) return closedV6(address);
  return nameIn(CLOSED_V6, address);
}

function closedV6(address: IpAddress): string {
  if (address.value === 1n) return "an address of this host";
  return translatedIn(address).length > 0
    ? "a mapped or translated address"
    : "a private, link-local, multicast or reserved address";
}

function isMetadata(address: IpAddress): boolean {
  return METADATA.some(({ bits, value }) => bits === address.bits && value === address.value);
}

function translatedIn(address: IpAddress): IpAddress[] {
  if (address.bits === 32) return [];
  const found = TRANSLATED.filter(({ within }) => nameIn(within, address) !== null).map(({ shift }) =>
    v4Of(address.value >> shift),
  );
  return nameIn(TEREDO, address) === null ? found : [...found, v4Of(~address.value)];
}

interface Range {
  readonly first: IpAddress;
  readonly prefix: number;
  readonly name: string;
}

function ranges(named: Readonly<Record<string, string>>): readonly Range[] {
  return Object.entries(named).map(([range, name]) => {
    const [first = "", prefix] = range.split("/");
    return { first: parsed(first), prefix: Number(prefix), name };
  });
}

function nameIn(known: readonly Range[], { bits, value }: IpAddress): string | null {
  const found = known.find(({ first, prefix }) => {
    const shift = BigInt(bits - prefix);
    return first.bits === bits && first.value >> shift === value >> shift;
  });
  return found?.name ?? null;
}

function parsed(text: string): IpAddress {
  const address = parseIpAddress(text);
  if (address === null) throw new Error(`${text} is no address`);
  return address;
}
