import { money, parseCurrency } from "../../../../src/domain/money";
import {
  startStripe,
  type StripeUnderTest,
} from "../../../contracts/payment-gateways/stripe-gateway-harness";

const eur = parseCurrency("EUR");
const amount = money(5_000n, eur);
const request = { gatewayKey: "a.1", operationId: "a", paymentId: "p", amount, timeoutMs: 5_000 };
const capture = { ...request, gatewayKey: "c.1", operationId: "c", authorizationReference: "pi_1" };
const findCapture = { ...capture, kind: "capture" as const };

let stripe: StripeUnderTest;
beforeEach(async () => {
  stripe = await startStripe();
});
afterEach(() => stripe.stop());

function authorize(change: Partial<typeof request> = {}) {
  return stripe.gateway.authorize({ ...request, ...change, paymentMethod: "pm_card_visa" });
}

describe("what a person has to look at", () => {
  it("a capture that somebody else made, under no id of ours, is never taken for ours, nor for a refusal", async () => {
    await authorize();
    stripe.standIn.world.capture("pi_1", new URLSearchParams({ amount_to_capture: "5000" }), "as asked");
    expect(await stripe.gateway.capture(capture)).toMatchObject({ outcome: "unknown" });
    expect(await stripe.gateway.find(findCapture)).toEqual({
      outcome: "mismatch",
      evidence: "pi_1: holdfast_capture is missing",
    });
  });

  it("a void of what somebody captured is found as a mismatch", async () => {
    await authorize();
    await stripe.gateway.capture(capture);
    const found = await stripe.gateway.find({
      ...capture,
      kind: "void",
      gatewayKey: "v.1",
      operationId: "v",
    });
    expect(found).toMatchObject({ outcome: "mismatch" });
  });

  it("two authorizations that carry the same operation's id are one too many", async () => {
    await authorize();
    await authorize({ gatewayKey: "a.2" });
    const found = await stripe.gateway.find({ ...request, kind: "authorize", authorizationReference: null });
    expect(found).toEqual({ outcome: "mismatch", evidence: "pi_1 and pi_2 both carry this operation's id" });
  });
});

describe("an authorization whose reference never arrived", () => {
  it("is absent while the index is behind, and the same key finds it", async () => {
    stripe.standIn.arm("authorize", "silent_after_acting");
    stripe.standIn.world.searchIsBehind = true;
    expect(await authorize()).toMatchObject({ outcome: "unknown" });
    const search = { ...request, kind: "authorize" as const, authorizationReference: null };
    expect(await stripe.gateway.find(search)).toEqual({ outcome: "absent" });
    expect(await authorize()).toEqual({ outcome: "succeeded", reference: "pi_1" });
  });
});

it("a payment intent that Stripe does not know under this API key is unknown, not gone", async () => {
  expect(await stripe.gateway.capture(capture)).toEqual({ outcome: "unknown", reason: "resource_missing" });
  expect(await stripe.gateway.find(findCapture)).toMatchObject({ outcome: "unknown" });
});

describe("a refusal because of the object's state", () => {
  const refund = { ...capture, gatewayKey: "r.1", operationId: "r" };

  it("is no refusal if this very operation has brought the object there", async () => {
    await authorize();
    await stripe.gateway.capture(capture);
    stripe.standIn.forgetKeys();
    expect(await stripe.gateway.capture(capture)).toEqual({ outcome: "succeeded", reference: "ch_pi_1" });
    await stripe.gateway.refund(refund);
    stripe.standIn.forgetKeys();
    expect(await stripe.gateway.refund(refund)).toEqual({ outcome: "succeeded", reference: "re_1" });
    expect(stripe.standIn.world.moves).toHaveLength(3);
  });

  it("is one if another refund has left nothing, or less than this one wants", async () => {
    await authorize();
    await stripe.gateway.capture(capture);
    await stripe.gateway.refund({ ...refund, amount: money(4_000n, eur) });
    const tooMuch = { ...refund, gatewayKey: "r2.1", operationId: "r2", amount: money(1_001n, eur) };
    expect(await stripe.gateway.refund(tooMuch)).toMatchObject({ outcome: "declined" });
    const rest = { ...refund, gatewayKey: "r3.1", operationId: "r3", amount: money(1_000n, eur) };
    expect(await stripe.gateway.refund(rest)).toMatchObject({ outcome: "succeeded" });
    const more = { ...refund, gatewayKey: "r4.1", operationId: "r4", amount: money(1n, eur) };
    expect(await stripe.gateway.refund(more)).toEqual({
      outcome: "declined",
      reason: "charge_already_refunded",
    });
  });
});

describe("a refund is found among many", () => {
  it("beyond the first page", async () => {
    await authorize();
    await stripe.gateway.capture(capture);
    const refund = { ...capture, amount: money(1n, eur) };
    for (let n = 1; n <= 101; n++) {
      await stripe.gateway.refund({ ...refund, gatewayKey: `r${n}.1`, operationId: `r${n}` });
    }
    const found = await stripe.gateway.find({
      ...refund,
      kind: "refund",
      gatewayKey: "r1.1",
      operationId: "r1",
    });
    expect(found).toEqual({ outcome: "succeeded", reference: "re_1" });
  });
});

describe("an amount that Stripe has no way to say", () => {
  it("is declined before anything is sent", async () => {
    const lyd = parseCurrency("LYD");
    const answer = await authorize({ amount: money(1_001n, lyd) });
    expect(answer).toEqual({ outcome: "declined", reason: "amount_not_representable" });
    expect(stripe.standIn.requests).toEqual([]);
  });
});

describe("an authorization made elsewhere", () => {
  const lookup = (reference: string) => stripe.gateway.lookupAuthorization({ reference, timeoutMs: 5_000 });

  it("is found with its amount, its end and whose it is", async () => {
    await authorize();
    expect(await lookup("pi_1")).toEqual({
      outcome: "found",
      authorization: {
        reference: "pi_1",
        amount,
        expiresAt: new Date(stripe.standIn.world.captureBefore * 1_000),
        paymentId: "p",
      },
    });
  });

  it("that is no payment intent is not found, and nothing else of Stripe's is asked for", async () => {
    expect(await lookup("pi_404")).toEqual({ outcome: "not_found" });
    const before = stripe.standIn.requests.length;
    for (const reference of ["", "ch_1", "pi_1/capture", "../refunds", "pi_1?expand=x"]) {
      expect(await lookup(reference)).toEqual({ outcome: "not_found" });
    }
    expect(stripe.standIn.requests).toHaveLength(before);
  });

  it("that is captured, or gone, has nothing to capture", async () => {
    await authorize();
    stripe.standIn.world.lapse("pi_1");
    expect(await lookup("pi_1")).toEqual({ outcome: "not_capturable", reason: "canceled" });
  });

  it("is unknown while Stripe does not say", async () => {
    await authorize();
    stripe.standIn.arm("read", "error_before_acting", "reset_before_acting", "empty_object_after_acting");
    for (let asked = 0; asked < 3; asked++)
      expect(await lookup("pi_1")).toMatchObject({ outcome: "unknown" });
  });
});
