import { ImportAuthorization } from "../../../src/application/use-cases/import-authorization";
import { parseIdempotencyKey, parseMerchantId } from "../../../src/domain/identifiers";
import { PaymentError } from "../../../src/domain/payment/errors";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import type { StripeWorld } from "../../support/stripe-stand-in/stripe-world";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const SHARED = "acct_shared";
const OWN = "acct_own";
const KEY = "sk_test_own";
const [ACME, ZOO] = ["acme", "zoo"];

describeOnEveryStore("the proof that an authorization is a merchant's", (open) => {
  let stripe: StripeUnderTest;
  let world: PaymentsWorld;
  let keys = 0;

  beforeEach(async () => {
    world = await open();
    stripe = await startStripe(async (account) => (account === OWN ? KEY : null));
    Object.assign(world.context, { gateway: stripe.gateway, accounts: world.merchantAccounts });
  });
  afterEach(() => stripe.stop());

  const use = (merchant: string, account: string) =>
    world.merchantAccounts.set({
      merchant: parseMerchantId(merchant),
      account,
      setAt: world.clock.now(),
    });
  const made = (where: StripeWorld, merchant?: string) => {
    const asked = new URLSearchParams({
      payment_method: "pm_card_visa",
      capture_method: "manual",
      confirm: "true",
      amount: "700",
      currency: "eur",
      ...(merchant !== undefined && { "metadata[holdfast_merchant]": merchant }),
    });
    return (where.create(asked, "as asked").body as { id: string }).id;
  };
  const imported = (merchant: string, gatewayReference: string) =>
    new ImportAuthorization(world.locks, world.context, stripe.gateway, "shared").execute(
      {
        idempotencyKey: parseIdempotencyKey(`import-${(keys += 1)}`),
        gatewayReference,
        reference: null,
        metadata: {},
        expiresInSeconds: null,
      },
      world.caller({ merchant: parseMerchantId(merchant) }),
    );
  /** Word by word, with the reference taken out. */
  const refusalOf = async (merchant: string, reference: string) => {
    const error: unknown = await imported(merchant, reference).catch((thrown: unknown) => thrown);
    if (!(error instanceof PaymentError)) throw new Error("it was imported");
    return JSON.stringify([error.code, error.message, error.facts]).replaceAll(reference, "<reference>");
  };
  const states: Readonly<Record<string, (where: StripeWorld, id: string) => void>> = {
    open: () => {},
    captured: (where, id) => where.captureInDashboard(id),
    cancelled: (where, id) => where.cancelInDashboard(id),
    lapsed: (where, id) => where.lapse(id),
  };

  it("two merchants of the common account import what names them, and nothing of each other", async () => {
    const common = stripe.standIn.world;
    expect(await codeOf(imported(ACME, made(common, ACME)))).toBe("succeeded");
    expect(await codeOf(imported(ZOO, made(common, ZOO)))).toBe("succeeded");
    for (const [merchant, whose] of [
      [ACME, ZOO],
      [ZOO, ACME],
      [ACME, undefined],
      [ZOO, undefined],
    ] as const)
      expect(await codeOf(imported(merchant, made(common, whose)))).toBe("authorization_not_found");
  });

  it("two merchants of one connected account import what names them, and nothing of each other", async () => {
    const shared = stripe.standIn.connect(SHARED);
    for (const merchant of [ACME, ZOO]) await use(merchant, SHARED);
    expect(await codeOf(imported(ACME, made(shared, ACME)))).toBe("succeeded");
    expect(await codeOf(imported(ZOO, made(shared, ACME)))).toBe("authorization_not_found");
    expect(await codeOf(imported(ZOO, made(shared)))).toBe("authorization_not_found");
    // Alone in it again, no other merchant can be meant.
    await world.merchantAccounts.unset(parseMerchantId(ACME));
    expect(await codeOf(imported(ZOO, made(shared)))).toBe("succeeded");
  });

  it("what is in an account with a key of the merchant's own is the merchant's, and another one has no way to it", async () => {
    const own = stripe.standIn.own(OWN, KEY);
    await use(ACME, OWN);
    expect(await codeOf(imported(ZOO, made(own)))).toBe("authorization_not_found");
    expect(await codeOf(imported(ZOO, made(own, ZOO)))).toBe("authorization_not_found");
    const { payment } = await imported(ACME, made(own));
    expect(payment.facts.gatewayAccount).toBe(OWN);
    expect(await codeOf(world.capture(payment.facts.id, "c"))).toBe("succeeded");
    expect(own.moves.map(({ kind }) => kind)).toContain("capture");
  });

  it("a foreign authorization is answered word for word like one that is not there, after as many questions, in every state", async () => {
    const shared = stripe.standIn.connect(SHARED);
    for (const merchant of [ACME, ZOO]) await use(merchant, SHARED);
    const asked = async (work: () => Promise<unknown>) => {
      const before = stripe.standIn.requests.length;
      await work();
      return stripe.standIn.requests.length - before;
    };
    const absent = await refusalOf(ZOO, "pi_nowhere");
    const questions = await asked(() => refusalOf(ZOO, "pi_nowhere"));
    for (const [state, bring] of Object.entries(states)) {
      const foreign = made(shared, ACME);
      bring(shared, foreign);
      expect([state, await refusalOf(ZOO, foreign)]).toEqual([state, absent]);
      expect(await asked(() => refusalOf(ZOO, foreign))).toBe(questions);
    }
    const taken = made(shared, ACME);
    await imported(ACME, taken);
    expect(await refusalOf(ZOO, taken)).toBe(absent);
  });

  it("an account that the gateway does not let this service into is told as that, and not as one that does not answer", async () => {
    await use(ACME, "acct_disconnected");
    expect(await codeOf(imported(ACME, "pi_1"))).toBe("gateway_access_refused");
  });
});
