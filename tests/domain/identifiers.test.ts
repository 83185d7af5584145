import fc from "fast-check";
import {
  parseIdempotencyKey,
  parseMerchantId,
  parseOperationId,
  parsePaymentId,
  paymentResourceId,
} from "../../src/domain/identifiers";
import { anyText } from "../support/fakes/any-text";

describe("a payment id", () => {
  it("a payment id is any UUID, and the same one in either case", () => {
    fc.assert(
      fc.property(fc.uuid(), (uuid) => {
        expect(parsePaymentId(uuid.toUpperCase())).toBe(uuid);
        expect(parsePaymentId(parsePaymentId(uuid))).toBe(uuid);
        expect(parseOperationId(uuid.toUpperCase())).toBe(uuid);
      }),
    );
  });

  it("a payment id locks one resource, however it is spelled", () => {
    const id = "0190A6B2-7C3D-7E4F-8A5B-6C7D8E9F0A1B";
    expect(paymentResourceId(parsePaymentId(id))).toBe(`payment:${id.toLowerCase()}`);
  });

  it("a payment id may be one of the two reserved UUIDs", () => {
    expect(parsePaymentId("00000000-0000-0000-0000-000000000000")).toMatch(/^0/);
    expect(parsePaymentId("FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF")).toMatch(/^f/);
  });

  it.each([
    "",
    "1",
    "0190a6b27c3d7e4f8a5b6c7d8e9f0a1b",
    "{0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b}",
    "0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b ",
    "0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1b\n",
    "0190a6b2-7c3d-9e4f-8a5b-6c7d8e9f0a1b",
    "0190a6b2-7c3d-7e4f-ca5b-6c7d8e9f0a1b",
    "0190a6b2-7c3d-7e4f-8a5b-6c7d8e9f0a1g",
    "../../etc/passwd",
  ])("a payment id is not %j", (text) => {
    expect(() => parsePaymentId(text)).toThrow(expect.objectContaining({ code: "invalid_payment_id" }));
    expect(() => parseOperationId(text)).toThrow(expect.objectContaining({ code: "invalid_operation_id" }));
  });

  it("a payment id is never made of what is no UUID", () => {
    fc.assert(
      fc.property(anyText(10), (text) => {
        expect(() => parsePaymentId(text)).toThrow();
      }),
    );
  });
});

describe("an idempotency key", () => {
  it("an idempotency key is 1 to 255 visible ASCII characters, kept as they are", () => {
    const visible = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code));
    fc.assert(
      fc.property(fc.array(visible, { minLength: 1, maxLength: 255 }), (characters) => {
        expect(parseIdempotencyKey(characters.join(""))).toBe(characters.join(""));
      }),
    );
  });

  it.each(["", " ", "a b", "a\n", "\t", "é", "k\u0000", "k\u007f", "a".repeat(256)])(
    "the text %j is refused as an idempotency key",
    (text) => {
      expect(() => parseIdempotencyKey(text)).toThrow(
        expect.objectContaining({ code: "invalid_idempotency_key" }),
      );
    },
  );
});

describe("a merchant", () => {
  it.each(["a", "acme", "default", "0", "a_b-c", "a".repeat(63)])("a merchant may be %j", (text) => {
    expect(parseMerchantId(text)).toBe(text);
  });

  it.each(["", "A", "-a", "_a", "a b", "a.b", "a/b", "a\n", "ä", "a".repeat(64)])(
    "the text %j is refused as a merchant",
    (text) => {
      expect(() => parseMerchantId(text)).toThrow(expect.objectContaining({ code: "invalid_merchant" }));
    },
  );
});
