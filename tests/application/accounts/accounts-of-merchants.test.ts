import { parseIdempotencyKey, parseMerchantId, type PaymentId } from "../../../src/domain/identifiers";
import { ImportAuthorization } from "../../../src/application/use-cases/import-authorization";
import type { MerchantAccountStore } from "../../../src/application/ports/accounts/merchant-account-store";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import type { StripeWorld } from "../../support/stripe-stand-in/stripe-world";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const ACCOUNT = "acct_1032D82eZvKYlo2C";
const OTHER = "acct_other";
const CARD = "pm_card_visa";
const LATER_MS = 3 * 3_600_000;

describeOnEveryStore("a merchant with an account of their own at Stripe", (open) => {
  let stripe: StripeUnderTest;
  let own: StripeWorld;
  let other: StripeWorld;
  let world: PaymentsWorld;
  let accounts: MerchantAccountStore;

  beforeEach(async () => {
    stripe = await startStripe();
    own = stripe.standIn.connect(ACCOUNT);
    other = stripe.standIn.connect(OTHER);
    world = await open();
    accounts = world.merchantAccounts;
    Object.assign(world.context, { gateway: stripe.gateway, accounts });
    await use(ACCOUNT);
  });
  afterEach(() => stripe.stop());

  const use = (account: string) =>
    accounts.set({ merchant: world.merchant, account, setAt: world.clock.now() });
  const common = () => stripe.standIn.world;
  const moved = ({ moves }: StripeWorld) => moves.map(({ kind, amount }) => `${kind} ${amount}`);
  const accountOf = async (id: PaymentId) => (await world.payment(id)).facts.gatewayAccount;

  it("everything of a merchant with an account of their own happens in it, and nothing elsewhere", async () => {
    const payment = await world.authorize(CARD, 5_000n);
    expect(await accountOf(payment)).toBe(ACCOUNT);
    expect(await codeOf(world.capture(payment, "c", { amount: 4_000n }))).toBe("succeeded");
    expect(await codeOf(world.refund(payment, "r", { amount: 1_000n }))).toBe("succeeded");
    const voided = await world.authorize(CARD, 700n);
    expect(await codeOf(world.void(voided, "v"))).toBe("succeeded");
    expect(moved(own)).toEqual([
      "authorize 5000",
      "capture 4000",
      "refund 1000",
      "authorize 700",
      "void 700",
    ]);
    expect(moved(common())).toEqual([]);
  });

  it("a payment that has begun stays in its account, wherever the merchant's next one goes", async () => {
    const inCommon = await (async () => {
      await accounts.unset(world.merchant);
      return world.authorize(CARD, 100n);
    })();
    await use(ACCOUNT);
    const inOwn = await world.authorize(CARD, 200n);
    await use(OTHER);
    const inOther = await world.authorize(CARD, 300n);
    await accounts.unset(world.merchant);
    for (const payment of [inCommon, inOwn, inOther]) {
      expect(await codeOf(world.capture(payment, "c"))).toBe("succeeded");
      expect(await codeOf(world.refund(payment, "r"))).toBe("succeeded");
    }
    expect([await accountOf(inCommon), await accountOf(inOwn), await accountOf(inOther)]).toEqual([
      null,
      ACCOUNT,
      OTHER,
    ]);
    expect(moved(common())).toEqual(["authorize 100", "capture 100", "refund 100"]);
    expect(moved(own)).toEqual(["authorize 200", "capture 200", "refund 200"]);
    expect(moved(other)).toEqual(["authorize 300", "capture 300", "refund 300"]);
  });

  it.each(["authorize", "capture", "void", "refund"] as const)(
    "a lost answer to %s is found in the account in which it was sent, after the merchant has got another one",
    async (kind) => {
      if (kind === "authorize") stripe.standIn.arm(kind, "silent_after_acting");
      const payment = await world.authorize(CARD, 500n);
      if (kind === "refund") await world.capture(payment, "before");
      if (kind !== "authorize") {
        stripe.standIn.arm(kind, "silent_after_acting");
        expect(await codeOf(world[kind](payment, "k"))).toBe("unknown");
      }
      await use(OTHER);
      world.clock.advance(LATER_MS);
      await world.reconcile();
      const { operations } = (await world.payment(payment)).facts;
      expect(operations.map(({ status }) => status)).toEqual(operations.map(() => "succeeded"));
      expect(moved(own).filter((move) => move.startsWith(kind))).toEqual([`${kind} 500`]);
      expect(moved(other)).toEqual([]);
      expect(world.errors).toEqual([]);
    },
  );

  it("an observation asks about a payment in its own account", async () => {
    const payment = await world.authorize(CARD, 500n);
    await world.capture(payment, "c");
    await accounts.unset(world.merchant);
    const { observations } = await world.observe(payment);
    expect(observations.map((one) => "result" in one && one.result)).toContain("agrees");
    expect(observations.map((one) => "seen" in one && one.seen.outcome)).not.toContain("absent");
  });

  it("an account that is not connected moves nothing, and no other account is used in its place", async () => {
    await use("acct_unknown");
    await expect(world.authorize(CARD, 500n)).rejects.toMatchObject({
      code: "gateway_access_refused",
      message: expect.stringMatching(/account_invalid.*repeating the request does not help/s),
    });
    for (const each of [own, other, common()]) expect(moved(each)).toEqual([]);
  });

  describe("who imports", () => {
    const made = (where: StripeWorld, metadata: Record<string, string> = {}) => {
      const form = {
        payment_method: CARD,
        capture_method: "manual",
        confirm: "true",
        amount: "700",
        currency: "eur",
      };
      const asked = new URLSearchParams(form);
      for (const [name, value] of Object.entries(metadata)) asked.append(`metadata[${name}]`, value);
      return (where.create(asked, "as asked").body as { id: string }).id;
    };
    const imported = (gatewayReference: string, change: { merchant?: string; operator?: true } = {}) =>
      new ImportAuthorization(world.locks, world.context, stripe.gateway, "shared").execute(
        {
          idempotencyKey: parseIdempotencyKey(`import-${gatewayReference}`),
          gatewayReference,
          reference: null,
          metadata: {},
          expiresInSeconds: null,
        },
        world.caller({
          ...(change.merchant !== undefined && { merchant: parseMerchantId(change.merchant) }),
          ...(change.operator !== undefined && { operator: change.operator }),
        }),
      );

    it("who imports from an account of their own needs no other proof, and captures there", async () => {
      const { payment } = await imported(made(own));
      expect(payment.facts.gatewayAccount).toBe(ACCOUNT);
      await use(OTHER);
      expect(await codeOf(world.capture(payment.facts.id, "c"))).toBe("succeeded");
      expect(moved(own)).toContain("capture 700");
    });

    it("who imports what names another merchant, from an account that both have, is told that there is nothing", async () => {
      const ofZoo = made(own, { holdfast_merchant: "zoo" });
      expect(await codeOf(imported(ofZoo))).toBe("authorization_not_found");
      const { payment } = await imported(ofZoo, { operator: true });
      expect(payment.facts.gatewayAccount).toBe(ACCOUNT);
    });

    it("who imports from another account is told that there is nothing, whatever its state and whoever asks", async () => {
      const free = made(common(), { holdfast_merchant: "acme" });
      const taken = made(other);
      other.captureInDashboard(taken);
      for (const reference of [free, taken, made(other, { holdfast_merchant: "acme" }), "pi_nowhere"]) {
        expect(await codeOf(imported(reference))).toBe("authorization_not_found");
        expect(await codeOf(imported(reference, { operator: true }))).toBe("authorization_not_found");
      }
      // A merchant without an account of their own does not reach into this one.
      expect(await codeOf(imported(made(own), { merchant: "zoo", operator: true }))).toBe(
        "authorization_not_found",
      );
    });
  });
});
