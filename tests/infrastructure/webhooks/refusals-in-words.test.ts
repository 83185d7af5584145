import { adviceOn, refusalOfAddress } from "../../../src/infrastructure/webhooks/address-rules";
import { refusalOfHost, resolveBySystem } from "../../../src/infrastructure/webhooks/guarded-lookup";
import { webhookUrl } from "../../../src/infrastructure/webhooks/webhook-url";

const CLOSED = { http: false, private: false };

describe("a webhook's URL that is refused", () => {
  const refusalOf = (url: string, allowed = CLOSED): { code: string; message: string } => {
    try {
      return { code: "allowed", message: webhookUrl(url, allowed).href };
    } catch (error) {
      const { code, message } = error as { code: string; message: string };
      return { code, message };
    }
  };

  test.each([
    ["http://a.example/", CLOSED, "http:, and webhooks go to https: only, unless an operator allows http"],
    ["ftp://a.example/", CLOSED, "ftp:, and webhooks go to https: only."],
    ["ftp://a.example/", { http: true, private: false }, "ftp:, and webhooks go to https: or http: only."],
  ])("is told which schemes there are: %s %j", (url, allowed, words) => {
    expect(refusalOf(url, allowed)).toEqual({
      code: "webhook_url_not_https",
      message: expect.stringContaining(`The URL begins with ${words}`),
    });
  });

  test.each([
    [
      "https://u:p@a.example/",
      "a user or a password: each delivery is signed instead, verify its signature.",
    ],
    ["https://a.example/#part", "The URL has a fragment (#…), which no server would be sent."],
    ["https://a.example/#", "The URL has a fragment (#…), which no server would be sent."],
    ["https://a.example:25/", "Port 25 belongs to a service that is no web server: no webhook goes there."],
    [
      "https://metadata.google.internal/",
      "metadata.google.internal is the name of a cloud's metadata service. No setting allows it.",
    ],
    [
      "https://receiver/",
      "receiver is a name of a private network, without a domain. The endpoint has to be on the public Internet, " +
        "unless an operator allows others (--webhooks-allow private).",
    ],
  ])("is told what is wrong with it: %s", (url, words) => {
    expect(refusalOf(url).message).toContain(words);
  });

  test("is one with more than 2048 characters, and not one with as many", () => {
    const withLength = (length: number) => "https://a.example/".padEnd(length, "x");
    expect(refusalOf(withLength(2_048)).code).toBe("allowed");
    expect(refusalOf(withLength(2_049)).code).toBe("webhook_url_malformed");
  });
});

describe("an address that is refused", () => {
  const refused = (address: string, isPrivate: boolean) =>
    refusalOfAddress(address, { http: false, private: isPrivate });

  test.each([
    "::169.254.169.254",
    "::ffff:169.254.169.254",
    "::ffff:0:169.254.169.254",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::169.254.169.254",
    "2002:a9fe:a9fe::1",
    "2001:0:a9fe:a9fe::1",
  ])("is a cloud's metadata service however it is translated, whatever an operator allows: %s", (address) => {
    expect(refused(address, true)).toBe("an address of a cloud's metadata service");
  });

  test.each(["192.31.196.1", "192.52.193.1", "192.175.48.1", "2620:4f:8000::1", "3ffe::1"])(
    "is named as reserved: %s",
    (address) => {
      expect(refused(address, false)).toBe("a reserved address");
    },
  );

  test("is the same with the name of a network card behind it", () => {
    expect(refused("fe80::1%eth0", false)).toBe(refused("fe80::1", false));
  });

  test("may be no address at all", () => {
    expect(refused("hooks.example.com", true)).toBe("not an address");
  });

  test("is told what an operator could do, if there is anything", () => {
    expect(adviceOn("an address of a cloud's metadata service")).toBe("No setting allows it.");
    expect(adviceOn("a private address")).toContain("unless an operator allows others");
  });

  test.each([
    ["10.0.0.1", "10.0.0.1 is a private address"],
    ["[fd00::1]", "fd00::1 is a private, link-local, multicast or reserved address"],
  ])("is named once where it is the host itself: %s", (host, message) => {
    expect(refusalOfHost(host, CLOSED)).toMatchObject({ name: "AddressForbiddenError", message });
  });
});

describe("the host's own look-up", () => {
  const resolved = (host: string) =>
    new Promise((resolve) =>
      resolveBySystem(host, (error, addresses) =>
        resolve({ failed: error !== null, addresses: addresses.map(({ address }) => address) }),
      ),
    );

  test("has all addresses of a name, or none and an error", async () => {
    expect(await resolved("localhost")).toEqual({
      failed: false,
      addresses: expect.arrayContaining([expect.stringMatching(/^(127\.0\.0\.1|::1)$/)]),
    });
    expect(await resolved("no..name")).toEqual({ failed: true, addresses: [] });
  });
});
