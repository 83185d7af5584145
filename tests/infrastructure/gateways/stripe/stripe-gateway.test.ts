import { money, parseCurrency, type Money } from "../../../../src/domain/money";
import type { OperationKind } from "../../../../src/domain/payment/operation";
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

it("an answer about another object than the one that was asked for is no answer", async () => {
  await authorize();
  Object.assign(stripe.standIn.world.intents.get("pi_1")!, { id: "pi_other" });
  const other = { outcome: "unknown", reason: "the answer is about pi_other, not pi_1" };
  const letGo = { ...capture, gatewayKey: "v.1", operationId: "v" };
  expect(await stripe.gateway.capture(capture)).toEqual(other);
  expect(await stripe.gateway.find(findCapture)).toEqual(other);
  expect(await stripe.gateway.void(letGo)).toEqual(other);
  expect(await stripe.gateway.find({ ...letGo, kind: "void" })).toEqual(other);
});

describe("what a person has to look at", () => {
  it("a capture that somebody else made, under no id of ours, is never taken for ours, nor for a refusal", async () => {
    await authorize();
    stripe.standIn.world.capture("pi_1", new URLSearchParams({ amount_to_capture: "5000" }), "as asked");
    const foreign = { outcome: "mismatch", evidence: "pi_1: holdfast_capture is missing", reference: "pi_1" };
    expect(await stripe.gateway.capture(capture)).toEqual(foreign);
    expect(await stripe.gateway.find(findCapture)).toEqual(foreign);
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
    expect(found).toEqual({
      outcome: "mismatch",
      evidence: "pi_1: 5000 eur captured, while it was to be voided",
      reference: "ch_pi_1",
      captured: true,
    });
  });

  it("two authorizations that carry the same operation's id are one too many", async () => {
    await authorize();
    await authorize({ gatewayKey: "a.2" });
    const found = await stripe.gateway.find({ ...request, kind: "authorize", authorizationReference: null });
    expect(found).toEqual({ outcome: "mismatch", evidence: "pi_1 and pi_2 both carry this operation's id" });
  });
});

describe("an authorization whose reference never arrived", () => {
  it("an authorization whose reference never arrived is absent while the index is behind, and the same key finds it", async () => {
    stripe.standIn.arm("authorize", "silent_after_acting");
    stripe.standIn.world.searchIsBehind = true;
    expect(await authorize()).toMatchObject({ outcome: "unknown" });
    const search = { ...request, kind: "authorize" as const, authorizationReference: null };
    expect(await stripe.gateway.find(search)).toEqual({ outcome: "absent" });
    expect(await authorize()).toMatchObject({ outcome: "succeeded", reference: "pi_1" });
  });
});

it("a payment intent that Stripe does not know under this API key is unknown, not gone", async () => {
  expect(await stripe.gateway.capture(capture)).toEqual({ outcome: "unknown", reason: "resource_missing" });
  expect(await stripe.gateway.find(findCapture)).toMatchObject({ outcome: "unknown" });
});

describe("a refusal because of the object's state", () => {
  const refund = { ...capture, gatewayKey: "r.1", operationId: "r" };

  it("a refusal because of the object's state is no refusal if this very operation has brought the object there", async () => {
    await authorize();
    await stripe.gateway.capture(capture);
    stripe.standIn.forgetKeys();
    expect(await stripe.gateway.capture(capture)).toEqual({ outcome: "succeeded", reference: "ch_pi_1" });
    await stripe.gateway.refund(refund);
    stripe.standIn.forgetKeys();
    expect(await stripe.gateway.refund(refund)).toEqual({ outcome: "succeeded", reference: "re_1" });
    expect(stripe.standIn.world.moves).toHaveLength(3);
  });

  it("a refusal because of the object's state is one if another refund has left nothing, or less than this one wants", async () => {
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
  it("an amount that Stripe has no way to say is declined before anything is sent", async () => {
    const declined = async (units: bigint, code: string) =>
      authorize({ amount: money(units, parseCurrency(code)) });
    expect(await declined(1_001n, "KWD")).toEqual({
      outcome: "declined",
      reason: "amount_not_representable",
    });
    expect(await declined(1_001n, "MGA")).toEqual({
      outcome: "declined",
      reason: "amount_not_representable",
    });
    expect(await declined(1_000n, "LYD")).toEqual({ outcome: "declined", reason: "currency_not_supported" });
    expect(stripe.standIn.requests).toEqual([]);
  });
});

describe("a request that Stripe refuses as it reads it", () => {
  const inCurrency = (units: bigint, code: string, key: string) =>
    authorize({ amount: money(units, parseCurrency(code)), gatewayKey: key, operationId: key });

  it("a request that Stripe refuses as it reads it is declined at once, as often as it is sent, and nothing was reserved", async () => {
    const { world } = stripe.standIn;
    world.currenciesRefused.add("irr");
    world.wholeUnitsOnly.add("lak");
    for (let times = 0; times < 2; times++) {
      expect(await inCurrency(5_000n, "IRR", "a.1")).toEqual({
        outcome: "declined",
        reason: "invalid_currency",
      });
      expect(await inCurrency(5_050n, "LAK", "b.1")).toEqual({
        outcome: "declined",
        reason: "invalid_amount",
      });
      expect(await inCurrency(49n, "USD", "c.1")).toEqual({
        outcome: "declined",
        reason: "amount_too_small",
      });
    }
    expect(world.moves).toEqual([]);
    expect(world.intents.size).toBe(0);
  });

  it("a request that Stripe refuses as it reads it is answered with what it did if it was accepted before: the memory of its key comes first", async () => {
    stripe.standIn.arm("authorize", "silent_after_acting");
    expect(await inCurrency(5_000n, "IRR", "a.1")).toMatchObject({ outcome: "unknown" });
    stripe.standIn.world.currenciesRefused.add("irr");
    expect(await inCurrency(5_000n, "IRR", "a.1")).toMatchObject({ outcome: "succeeded", reference: "pi_1" });
    expect(stripe.standIn.world.moves).toHaveLength(1);
  });
});

describe("a payment of which it is not certain any more what its amounts are", () => {
  // 5,000 HUF, said when the forint was thought to have no minor unit.
  const kept: Money = { amount: 5_000n, currency: parseCurrency("HUF"), exponent: 0 };
  const ours = { ...capture, amount: kept };
  const find = (kind: OperationKind, authorizationReference: string | null = "pi_1") =>
    stripe.gateway.find({ ...ours, kind, authorizationReference });
  const sent = () => stripe.standIn.requests.filter((request) => request.startsWith("POST"));

  beforeEach(async () => {
    await authorize({ amount: { ...kept, exponent: 2 } });
    stripe.standIn.requests.length = 0;
  });

  it("a payment of which it is not certain any more what its amounts are is neither authorized, captured nor refunded: nothing is sent", async () => {
    const refusal = { outcome: "declined", reason: "currency_unit_unknown" };
    expect(await authorize({ amount: kept, gatewayKey: "b.1" })).toEqual(refusal);
    expect(await stripe.gateway.capture(ours)).toEqual(refusal);
    expect(await stripe.gateway.refund(ours)).toEqual(refusal);
    expect(stripe.standIn.requests).toEqual([]);
  });

  it("a payment of which it is not certain any more what its amounts are is looked at by a person where something may have been sent: never absent, never sent again", async () => {
    const seen = { outcome: "mismatch", evidence: expect.stringMatching("currency_unit_unknown.*5000 HUF") };
    for (const kind of ["authorize", "capture", "refund"] as const) expect(await find(kind)).toEqual(seen);
    expect(await find("authorize", null)).toEqual(seen);
    expect(stripe.standIn.requests).toEqual([]);
  });

  it("a payment of which it is not certain any more what its amounts are can be let go: a cancellation names no amount", async () => {
    expect(await find("void")).toEqual({ outcome: "absent" });
    expect(await stripe.gateway.void(ours)).toEqual({ outcome: "succeeded", reference: "pi_1" });
    expect(await find("void")).toEqual({ outcome: "succeeded", reference: "pi_1" });
    expect(sent()).toEqual(["POST /v1/payment_intents/pi_1/cancel"]);
  });
});

describe("an authorization made elsewhere", () => {
  const lookup = (reference: string) => stripe.gateway.lookupAuthorization({ reference, timeoutMs: 5_000 });

  it("an authorization made elsewhere is found with its amount, its end and whose it is", async () => {
    await authorize();
    expect(await lookup("pi_1")).toEqual({
      outcome: "found",
      merchant: null,
      authorization: {
        reference: "pi_1",
        amount,
        expiresAt: new Date(stripe.standIn.world.captureBefore * 1_000),
        paymentId: "p",
      },
    });
  });

  it("an authorization made elsewhere that is no payment intent is not found, and nothing else of Stripe's is asked for", async () => {
    expect(await lookup("pi_404")).toEqual({ outcome: "not_found" });
    const before = stripe.standIn.requests.length;
    for (const reference of ["", "ch_1", "pi_1/capture", "../refunds", "pi_1?expand=x"]) {
      expect(await lookup(reference)).toEqual({ outcome: "not_found" });
    }
    expect(stripe.standIn.requests).toHaveLength(before);
  });

  it("an authorization made elsewhere that is captured, or gone, has nothing to capture", async () => {
    await authorize();
    stripe.standIn.world.lapse("pi_1");
    expect(await lookup("pi_1")).toEqual({ outcome: "not_capturable", merchant: null, reason: "canceled" });
  });

  it("an authorization made elsewhere in a currency whose unit at Stripe nobody knows is not taken over by a guess", async () => {
    await authorize();
    for (const currency of ["lyd", "dem", "xau"]) {
      Object.assign(stripe.standIn.world.intents.get("pi_1")!, { currency });
      expect(await lookup("pi_1")).toEqual({
        outcome: "not_capturable",
        merchant: null,
        reason: "currency_not_supported",
      });
    }
  });

  it("an authorization made elsewhere says whom its metadata names, whatever has become of it", async () => {
    await authorize();
    const intent = stripe.standIn.world.intents.get("pi_1")!;
    intent.metadata["holdfast_merchant"] = "acme";
    expect(await lookup("pi_1")).toMatchObject({ outcome: "found", merchant: "acme" });
    intent.status = "processing";
    expect(await lookup("pi_1")).toEqual({ outcome: "undecided", merchant: "acme", reason: "processing" });
    intent.status = "canceled";
    expect(await lookup("pi_1")).toMatchObject({ outcome: "not_capturable", merchant: "acme" });
    Object.assign(intent, { status: "requires_capture", amount_capturable: 1 });
    expect(await lookup("pi_1")).toMatchObject({ outcome: "not_capturable", merchant: "acme" });
  });

  it("an authorization made elsewhere is unknown while Stripe does not say", async () => {
    await authorize();
    stripe.standIn.arm("read", "error_before_acting", "reset_before_acting", "empty_object_after_acting");
    for (let asked = 0; asked < 3; asked++)
      expect(await lookup("pi_1")).toMatchObject({ outcome: "unknown" });
  });
});
