import { parsePaymentMethodToken } from "../../../../src/infrastructure/gateways/simulated/payment-method-token";

describe("a payment method token", () => {
  it.each([
    ["tok_ok", "capture", { does: "ok" }],
    ["tok_decline", "authorize", { does: "decline" }],
    ["tok_capture_decline", "capture", { does: "decline" }],
    ["tok_authorize_decline", "authorize", { does: "decline" }],
    ["tok_timeout_captured", "capture", { does: "timeout_captured" }],
    ["tok_timeout_not_captured", "capture", { does: "timeout_not_captured" }],
    ["tok_void_timeout_captured", "void", { does: "timeout_captured" }],
    ["tok_late_250", "capture", { does: "late", ms: 250 }],
    ["tok_refund_slow_40", "refund", { does: "slow", ms: 40 }],
    ["tok_refund_fails_later_40", "refund", { does: "fails_later", ms: 40 }],
    ["tok_error_500", "capture", { does: "error_500" }],
    ["tok_error_500_stored", "capture", { does: "error_500_stored" }],
    ["tok_unreachable", "capture", { does: "unreachable" }],
    ["tok_authorize_processing", "authorize", { does: "processing" }],
    ["tok_capture_pending", "capture", { does: "pending" }],
    ["tok_refund_pending_then_failed", "refund", { does: "pending_then_failed" }],
    ["tok_authorization_gone", "capture", { does: "authorization_gone" }],
    ["tok_void_authorization_gone", "void", { does: "authorization_gone" }],
  ])("%s acts on the %s", (text, actsOn, behaviour) => {
    expect(parsePaymentMethodToken(text)).toEqual({ actsOn, behaviour });
  });

  it.each([
    "",
    "tok_",
    "tok_late",
    "tok_late_",
    "tok_late_1234567890",
    "tok_ok ",
    "pm_card_visa",
    "tok_okay",
  ])("the text %p is not a token of the simulated gateway", (text) => {
    expect(parsePaymentMethodToken(text)).toBeNull();
  });

  it.each(["tok_fails_later_40", "tok_capture_fails_later_40", "tok_refund_fails_later"])(
    "%s is none: only a refund comes back after it was made, and at a time",
    (text) => {
      expect(parsePaymentMethodToken(text)).toBeNull();
    },
  );

  it("a payment method token cannot make an authorization gone that is only being made", () => {
    expect(parsePaymentMethodToken("tok_authorize_authorization_gone")).toBeNull();
  });
});
