import { refusalOfAddress } from "../../../src/infrastructure/webhooks/address-rules";
import { webhookUrl } from "../../../src/infrastructure/webhooks/webhook-url";

const CLOSED = { http: false, private: false };

describe("the URL of a webhook endpoint", () => {
  it("is kept in its one spelling", () => {
    expect(webhookUrl("HTTPS://Hooks.Example.COM:443/a/../b?c=d", CLOSED).href).toBe(
      "https://hooks.example.com/b?c=d",
    );
  });

  it.each([
    ["webhook_url_malformed", ""],
    ["webhook_url_malformed", "hooks.example.com"],
    ["webhook_url_malformed", "https://"],
    ["webhook_url_malformed", "https://[::1"],
    ["webhook_url_malformed", "https://256.256.256.256/"],
    ["webhook_url_malformed", "https://exa mple.com/"],
    ["webhook_url_malformed", "https://hooks.example.com/\n"],
    ["webhook_url_malformed", `https://hooks.example.com/${"x".repeat(2_048)}`],
    ["webhook_url_malformed", "https://hooks.example.com/#part"],
    ["webhook_url_malformed", "https://hooks.example.com/#"],
    ["webhook_url_not_https", "http://hooks.example.com/"],
    ["webhook_url_not_https", "ftp://hooks.example.com/"],
    ["webhook_url_not_https", "file:///etc/passwd"],
    ["webhook_url_not_https", "gopher://hooks.example.com/"],
    ["webhook_url_not_https", "javascript:alert(1)"],
    ["webhook_url_has_credentials", "https://user:secret@hooks.example.com/"],
    ["webhook_url_has_credentials", "https://user@hooks.example.com/"],
    ["webhook_url_has_credentials", "https://:secret@hooks.example.com/"],
    ["webhook_url_port_forbidden", "https://hooks.example.com:25/"],
    ["webhook_url_port_forbidden", "https://hooks.example.com:5432/"],
    ["webhook_url_port_forbidden", "https://hooks.example.com:6379/"],
    ["webhook_url_port_forbidden", "https://hooks.example.com:27017/"],
    ["webhook_url_port_forbidden", "https://hooks.example.com:0/"],
    ["webhook_url_malformed", "https:hooks.example.com"],
    ["webhook_url_malformed", "https:/hooks.example.com/"],
    ["webhook_url_malformed", "https:///hooks.example.com/"],
    ["webhook_url_malformed", "https:\\\\hooks.example.com/"],
    ["webhook_url_malformed", "https://hooks.example.com\\in"],
    ["webhook_url_has_credentials", "https://@hooks.example.com/"],
    ["webhook_url_has_credentials", "https://:@hooks.example.com/"],
    ["webhook_url_address_forbidden", "https://localhost/"],
    ["webhook_url_address_forbidden", "https://LocalHost./"],
    ["webhook_url_address_forbidden", "https://hooks.localhost/"],
    ["webhook_url_address_forbidden", "https://hooks.localhost./"],
    ["webhook_url_address_forbidden", "https://metadata/"],
    ["webhook_url_address_forbidden", "https://metadata./"],
    ["webhook_url_address_forbidden", "https://metadata.google.internal/"],
    ["webhook_url_address_forbidden", "https://Metadata.Google.Internal./"],
  ])("is refused as %s: %s", (code, url) => {
    expect(() => webhookUrl(url, CLOSED)).toThrow(expect.objectContaining({ code }));
  });

  it("says what would be allowed, and does not repeat a password", () => {
    for (const name of ["localhost", "hooks.localhost"])
      expect(() => webhookUrl(`https://${name}/`, CLOSED)).toThrow(`${name} is a name of this host`);
    expect(() => webhookUrl("http://hooks.example.com/", CLOSED)).toThrow("--webhooks-allow http");
    expect(() => webhookUrl("https://u:hunter2@hooks.example.com/", CLOSED)).not.toThrow("hunter2");
  });

  it("may have an @ and a port of its own where neither means a user or another service", () => {
    const url = "https://hooks.example.com:8443/in/@me?to=a@b.example";
    expect(webhookUrl(url, CLOSED).href).toBe(url);
    expect(webhookUrl("https://[2606:4700::1111]/in", CLOSED).hostname).toBe("[2606:4700::1111]");
  });

  it("may name a host of a private network where an operator allows it, and never a cloud's metadata", () => {
    const allowed = { http: false, private: true };
    for (const url of ["https://receiver/in", "https://localhost/in", "https://hooks.localhost/in"])
      expect(webhookUrl(url, allowed).href).toBe(url);
    expect(() => webhookUrl("https://metadata.google.internal/", allowed)).toThrow(
      expect.objectContaining({ code: "webhook_url_address_forbidden" }),
    );
  });

  it("may be without TLS where an operator allows it", () => {
    expect(webhookUrl("http://hooks.example.com/", { http: true, private: false }).protocol).toBe("http:");
    expect(() => webhookUrl("ftp://hooks.example.com/", { http: true, private: false })).toThrow();
  });
});

test("a URL of a webhook without a host is refused with how it is written", () => {
  for (const url of ["https:hooks.example.com", "https://hooks.example.com\\in"])
    expect(() => webhookUrl(url, CLOSED)).toThrow(
      "The URL has no host behind https://, or a backslash in it: write it as https://host/path.",
    );
});

test("an address that is refused is named for what it is, also where it leads to another one", () => {
  const named = (address: string, isPrivate = false) =>
    refusalOfAddress(address, { http: false, private: isPrivate });
  expect(named("::1")).toBe("an address of this host");
  expect(named("::ffff:10.0.0.1")).toBe("a mapped or translated address");
  expect(named("fd00::1")).toBe("a private, link-local, multicast or reserved address");
  expect(named("100.64.0.1")).toBe("an address of a carrier's own network");
  expect(named("192.0.0.1")).toBe("a reserved address");
  expect(named("224.0.0.1")).toBe("a multicast address");
  // Teredo has the address of the other side turned over, bit by bit.
  expect(named("2001:0:0:0:0:0:5601:5601", true)).toBe("an address of a cloud's metadata service");
  expect(named("2001:0:0:0:0:0:a9fe:a9fe", true)).toBeNull();
});
