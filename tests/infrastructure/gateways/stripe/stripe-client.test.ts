import { stripeAddress } from "../../../../src/infrastructure/gateways/stripe/stripe-client";

describe("the address of Stripe", () => {
  it.each([
    ["https://stripe.example", { host: "stripe.example", port: "443", protocol: "https" }],
    ["http://127.0.0.1:12111/", { host: "127.0.0.1", port: "12111", protocol: "http" }],
    ["http://[::1]:12111", { host: "::1", port: "12111", protocol: "http" }],
  ])("the address %s of Stripe is split into host, port and protocol", (url, address) => {
    expect(stripeAddress(url)).toEqual(address);
  });

  it.each([
    "stripe.example",
    "ftp://stripe.example",
    "https://stripe.example/v1",
    "https://key@stripe.example",
    "",
  ])("the text %p is refused as an address of Stripe", (url) => {
    expect(() => stripeAddress(url)).toThrow(/address of Stripe/);
  });
});
