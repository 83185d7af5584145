import { isIPv4, isIPv6 } from "node:net";

/** As a number of so many bits, so that ranges are compared and not spelled. */
export interface IpAddress {
  readonly bits: 32 | 128;
  readonly value: bigint;
}

/** As a look-up, a socket or a URL spells it: brackets and zones are dropped. Null for what is no address. */
export function parseIpAddress(text: string): IpAddress | null {
  const bare = text.replace(/^\[(.*)\]$/, "$1").replace(/%.*$/, "");
  if (isIPv4(bare)) return { bits: 32, value: v4Value(bare) };
  if (isIPv6(bare)) return { bits: 128, value: v6Value(bare) };
  return null;
}

export function v4Of(value: bigint): IpAddress {
  return { bits: 32, value: value & 0xffff_ffffn };
}

function v4Value(text: string): bigint {
  return text.split(".").reduce((value, part) => (value << 8n) | BigInt(part), 0n);
}

function v6Value(text: string): bigint {
  // The last 32 bits may be spelled as an IPv4 address.
  const hex = text.replace(/[^:]+\.[^:]+$/, (v4) => {
    const value = v4Value(v4);
    return `${(value >> 16n).toString(16)}:${(value & 0xffffn).toString(16)}`;
  });
  const [before = "", after] = hex.split("::");
  const head = groups(before);
  const tail = after === undefined ? [] : groups(after);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0n);
  return [...head, ...zeros, ...tail].reduce((value, group) => (value << 16n) | group, 0n);
}

function groups(text: string): bigint[] {
  return text === "" ? [] : text.split(":").map((group) => BigInt(`0x${group}`));
}
