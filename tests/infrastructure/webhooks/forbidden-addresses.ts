/**
 * Spellings of places that no webhook may reach, each as the host of a URL. Those that lead to this host lead to a
 * listener that counts: `here` says so.
 */
export interface ForbiddenHost {
  readonly host: string;
  readonly here?: true;
}

const here = (...hosts: string[]): ForbiddenHost[] => hosts.map((host) => ({ host, here: true }));
const elsewhere = (...hosts: string[]): ForbiddenHost[] => hosts.map((host) => ({ host }));

export const forbiddenHosts: readonly ForbiddenHost[] = [
  // This host, in the spellings that a URL knows for one IPv4 address.
  ...here(
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0x7f.1",
    "0177.0.0.1",
    "017700000001",
    "0177.0.0.01",
    "127.0.0.1.",
    "127.255.255.254",
    "127.0.0.2",
    "%31%32%37.0.0.1",
    "１２７.０.０.１",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "0",
    "0.0.0.0",
    "0x0",
    "00",
  ),
  // And for IPv6, mapped and translated ones included.
  ...here(
    "[::1]",
    "[0:0:0:0:0:0:0:1]",
    "[0000:0000:0000:0000:0000:0000:0000:0001]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::FFFF:7F00:0001]",
  ),
  ...elsewhere(
    "[::127.0.0.1]",
    "[::7f00:1]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b::10.0.0.1]",
    "[64:ff9b:1::a00:1]",
    "[2002:7f00:1::]",
    "[2002:a00:1::1]",
    "[2001:0:7f00:1::]",
    "[2001:0:4136:e378:8000:63bf:80ff:fffe]",
  ),
  // Private, shared, link-local, reserved, multicast.
  ...elsewhere(
    "10.0.0.1",
    "10.255.255.255",
    "0xa.0.0.1",
    "167772161",
    "100.64.0.1",
    "100.127.255.254",
    "172.16.0.1",
    "172.31.255.255",
    "192.168.0.1",
    "192.168.1.1",
    "3232235777",
    "169.254.1.1",
    "192.0.0.1",
    "192.0.2.1",
    "192.88.99.1",
    "198.18.0.1",
    "198.19.255.255",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.255",
    "240.0.0.1",
    "255.255.255.255",
    "[fc00::1]",
    "[fd12:3456:789a::1]",
    "[fe80::1]",
    "[febf::1]",
    "[fec0::1]",
    "[ff02::1]",
    "[ff0e::1]",
    "[100::1]",
    "[2001:db8::1]",
    "[2001:2::1]",
    "[2001:10::1]",
    "[3fff::1]",
    "[5f00::1]",
    "[::ffff:10.0.0.1]",
    "[::ffff:192.168.0.1]",
  ),
];

/** Never, whatever is allowed. */
export const metadataHosts: readonly string[] = [
  "169.254.169.254",
  "2852039166",
  "0xa9fea9fe",
  "0xA9.0xFE.0xA9.0xFE",
  "0251.0376.0251.0376",
  "169.254.43518",
  "169.254.169.254.",
  "169.254.170.2",
  "100.100.100.200",
  "168.63.129.16",
  "192.0.0.192",
  "[fd00:ec2::254]",
  "[fd20:ce::254]",
  "[::ffff:169.254.169.254]",
  "[::ffff:a9fe:a9fe]",
  "[::169.254.169.254]",
  "[64:ff9b::a9fe:a9fe]",
  "[2002:a9fe:a9fe::]",
];

/** What a name server could answer with, in the spellings that a look-up returns. */
export const forbiddenAnswers: readonly string[] = [
  ...forbiddenHosts.map(({ host }) => host),
  ...metadataHosts,
].map((host) => new URL(`http://${host}/`).hostname.replace(/^\[|\]$/g, ""));
