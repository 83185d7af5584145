import { anAct } from "../../support/an-act";
import { randomBytes } from "node:crypto";
import { SealedAccounts } from "../../../src/application/accounts/sealed-accounts";
import { SecretsKeyError } from "../../../src/application/ports/events/secret-box";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import { ManageMerchantAccounts } from "../../../src/application/use-cases/manage-merchant-accounts";
import type { PaymentId } from "../../../src/domain/identifiers";
import { stripeKeyOwner } from "../../../src/infrastructure/gateways/stripe/accounts/stripe-key-owner";
import { AesSecretBox } from "../../../src/infrastructure/secrets/aes-secret-box";
import { parseSecretsKeys } from "../../../src/infrastructure/secrets/secrets-keys";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import type { StripeWorld } from "../../support/stripe-stand-in/stripe-world";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const OWN = "acct_own";
const OTHER = "acct_other";
const KEY = "sk_test_first";
const NEXT_KEY = "sk_test_second";
const OTHER_KEY = "sk_test_other";
const CARD = "pm_card_visa";
const LATER_MS = 3 * 3_600_000;

describeOnEveryStore("a merchant with a key of their own at Stripe", (open) => {
  let stripe: StripeUnderTest;
  let own: StripeWorld;
  let other: StripeWorld;
  let world: PaymentsWorld;
  let manage: ManageMerchantAccounts;
  let sealed: SealedAccounts;
  let keys: string;
  let secretsFail: Error | null;

  beforeEach(async () => {
    keys = randomBytes(32).toString("base64");
    secretsFail = null;
    world = await open();
    const { merchantAccounts: accounts } = world;
    const box = async () => {
      if (secretsFail !== null) throw secretsFail;
      return new AesSecretBox(() => parseSecretsKeys(keys, "test"));
    };
    sealed = new SealedAccounts(accounts, box);
    stripe = await startStripe((account) => sealed.keyOf(account));
    own = stripe.standIn.own(OWN, KEY);
    other = stripe.standIn.own(OTHER, OTHER_KEY);
    manage = new ManageMerchantAccounts(
      accounts,
      world.clock,
      world.context.ids,
      box,
      stripeKeyOwner(stripe.standIn.url),
      stripe.standIn.apiKey,
    );
    Object.assign(world.context, { gateway: stripe.gateway, accounts });
  });
  afterEach(() => stripe.stop());

  const setKey = (key: string, named: string | null = null) =>
    manage.setKey(world.merchant, { key }, named, anAct);
  const moved = ({ moves }: StripeWorld) => moves.map(({ kind, amount }) => `${kind} ${amount}`);
  const common = () => stripe.standIn.world;
  const accountOf = async (id: PaymentId) => (await world.payment(id)).facts.gatewayAccount;
  const statusesOf = async (id: PaymentId) =>
    (await world.payment(id)).facts.operations.map(({ status }) => status);

  it("everything of a merchant with a key of their own happens in that key's account, which need not be connected", async () => {
    expect(await setKey(KEY)).toMatchObject({ account: OWN, access: "own_key" });
    const payment = await world.authorize(CARD, 5_000n);
    expect(await accountOf(payment)).toBe(OWN);
    expect(await codeOf(world.capture(payment, "c"))).toBe("succeeded");
    expect(await codeOf(world.refund(payment, "r", { amount: 1_000n }))).toBe("succeeded");
    expect(await codeOf(world.void(await world.authorize(CARD, 7n), "v"))).toBe("succeeded");
    expect(moved(own)).toEqual(["authorize 5000", "capture 5000", "refund 1000", "authorize 7", "void 7"]);
    for (const elsewhere of [common(), other]) expect(moved(elsewhere)).toEqual([]);
  });

  it("the key is in the store only sealed, and what is shown of it is that there is one", async () => {
    await manage.setKey(
      world.merchant,
      { key: KEY, webhookSecrets: ["whsec_0123456789abcdef"] },
      null,
      anAct,
    );
    const known = await world.merchantAccounts.known();
    expect(known).toHaveLength(1);
    const listed = await manage.list();
    expect(JSON.stringify([known, listed])).not.toMatch(/sk_test|whsec/);
    expect(listed).toMatchObject([{ account: OWN, access: "own_key", hasWebhookSecrets: true }]);
  });

  it("the secrets of an account's events are as many as were given, and none where none was", async () => {
    const given = { key: KEY, webhookSecrets: ["whsec_first", "whsec_second"] };
    await manage.setKey(world.merchant, given, null, anAct);
    expect(await sealed.webhookSecretsOf(OWN)).toEqual(given.webhookSecrets);
    await setKey(OTHER_KEY);
    expect(await sealed.webhookSecretsOf(OTHER)).toEqual([]);
    expect(await manage.list()).toMatchObject([
      { account: OTHER, access: "own_key", hasWebhookSecrets: false },
    ]);
    expect(await manage.set(world.merchant, "acct_connected", anAct)).toMatchObject({
      access: "connected",
      hasWebhookSecrets: false,
    });
  });

  it("a sealed key that was moved to another account opens nothing there, and nothing is sent", async () => {
    await setKey(KEY);
    const { key } = (await world.merchantAccounts.find(OWN))!;
    await world.merchantAccounts.keepSecrets(OTHER, { key, webhookSecrets: null }, world.clock.now());
    await manage.set(world.merchant, OTHER, anAct);
    expect(await codeOf(world.authorize(CARD, 500n))).toBe("gateway_access_refused");
    for (const each of [own, other, common()]) expect(moved(each)).toEqual([]);
  });

  it.each(["authorize", "capture", "void", "refund"] as const)(
    "a lost answer to %s is found in its account by the key that has replaced the one it was sent with",
    async (kind) => {
      await setKey(KEY);
      if (kind === "authorize") stripe.standIn.arm(kind, "silent_after_acting");
      const payment = await world.authorize(CARD, 500n);
      if (kind === "refund") await world.capture(payment, "before");
      if (kind !== "authorize") {
        stripe.standIn.arm(kind, "silent_after_acting");
        expect(await codeOf(world[kind](payment, "k"))).toBe("unknown");
      }
      // At Stripe the key before is worth nothing any more.
      stripe.standIn.own(OWN, NEXT_KEY);
      await setKey(NEXT_KEY);
      world.clock.advance(LATER_MS);
      await world.reconcile();
      expect(new Set(await statusesOf(payment))).toEqual(new Set(["succeeded"]));
      expect(moved(own).filter((move) => move.startsWith(kind))).toEqual([`${kind} 500`]);
    },
  );

  it("a payment that has begun stays in its account when the merchant gets a key of another one", async () => {
    await setKey(KEY);
    const before = await world.authorize(CARD, 500n);
    await setKey(OTHER_KEY);
    const after = await world.authorize(CARD, 600n);
    await manage.unset(world.merchant, anAct);
    for (const payment of [before, after])
      expect(await codeOf(world.capture(payment, "c"))).toBe("succeeded");
    expect(moved(own)).toEqual(["authorize 500", "capture 500"]);
    expect(moved(other)).toEqual(["authorize 600", "capture 600"]);
  });

  it("without its key, an account is not asked with another one: nothing moves, and all goes on once the key is set again", async () => {
    await setKey(KEY);
    const idle = await world.authorize(CARD, 500n);
    const lost = await world.authorize(CARD, 600n);
    stripe.standIn.arm("capture", "silent_after_acting");
    expect(await codeOf(world.capture(lost, "c"))).toBe("unknown");
    expect(await manage.forget(OWN, anAct)).toBe(false);
    await manage.unset(world.merchant, anAct);
    expect(await manage.forget(OWN, anAct)).toBe(true);
    expect(await codeOf(world.capture(idle, "c"))).toBe("gateway_access_refused");
    world.clock.advance(LATER_MS);
    await world.reconcile();
    expect((await statusesOf(lost)).at(-1)).toBe("unknown");
    for (const each of [common(), other]) expect(moved(each)).toEqual([]);
    await setKey(KEY);
    world.clock.advance(LATER_MS);
    await world.reconcile();
    expect((await statusesOf(lost)).at(-1)).toBe("succeeded");
    expect(moved(own)).toEqual(["authorize 500", "authorize 600", "capture 600"]);
  });

  it("while the key of secrets is missing, what is asked for is not sent, and what is open stays so", async () => {
    await setKey(KEY);
    const payment = await world.authorize(CARD, 500n);
    stripe.standIn.arm("capture", "silent_after_acting");
    await world.capture(payment, "c");
    secretsFail = new SecretsKeyError("secrets_key_missing", "no key");
    expect(await codeOf(world.authorize(CARD, 600n))).toBe("gateway_access_refused");
    world.clock.advance(LATER_MS);
    await world.reconcile();
    expect((await statusesOf(payment)).at(-1)).toBe("unknown");
    secretsFail = null;
    world.clock.advance(LATER_MS);
    await world.reconcile();
    expect((await statusesOf(payment)).at(-1)).toBe("succeeded");
    expect(moved(own)).toEqual(["authorize 500", "capture 500"]);
  });

  it("while the store does not answer, a repetition is worth a try, and with a key that does not open it is not", async () => {
    await setKey(KEY);
    const payment = await world.authorize(CARD, 500n);
    secretsFail = new StoreUnavailableError("the store is away");
    expect(await codeOf(world.capture(payment, "c"))).toBe("gateway_unavailable");
    secretsFail = new SecretsKeyError("secrets_key_wrong", "another key");
    expect(await codeOf(world.capture(payment, "c"))).toBe("gateway_access_refused");
    secretsFail = null;
    expect(await codeOf(world.capture(payment, "c"))).toBe("succeeded");
    expect(moved(own)).toEqual(["authorize 500", "capture 500"]);
  });

  it("a key that may not say whose it is is taken for the account that is named with it", async () => {
    stripe.standIn.restricted.add(KEY);
    await expect(setKey(KEY)).rejects.toMatchObject({ refusal: "key_owner_not_said" });
    expect(await setKey(KEY, OWN)).toMatchObject({ account: OWN, access: "own_key" });
  });

  it("the server's own account is refused as a merchant's, by its id and by any key of it, and nothing changes", async () => {
    const refusal = { refusal: "account_of_server" };
    await expect(manage.set(world.merchant, "acct_server", anAct)).rejects.toMatchObject(refusal);
    await expect(setKey(stripe.standIn.apiKey)).rejects.toMatchObject(refusal);
    stripe.standIn.own("acct_server", NEXT_KEY);
    await expect(setKey(NEXT_KEY)).rejects.toMatchObject(refusal);
    stripe.standIn.restricted.add(NEXT_KEY);
    await expect(setKey(NEXT_KEY, "acct_server")).rejects.toMatchObject(refusal);
    expect(await world.merchantAccounts.known()).toEqual([]);
    expect(await manage.list()).toEqual([]);
  });

  it("where the gateway does not say whose the server's key is, the key itself is still refused, and nothing else", async () => {
    stripe.standIn.restricted.add(stripe.standIn.apiKey);
    await expect(setKey(stripe.standIn.apiKey, OTHER)).rejects.toMatchObject({
      refusal: "account_of_server",
    });
    expect(await manage.set(world.merchant, OTHER, anAct)).toMatchObject({ isApartFromServers: false });
    expect(await setKey(KEY)).toMatchObject({ isApartFromServers: false });
    stripe.standIn.restricted.clear();
    expect(await setKey(KEY)).toMatchObject({ isApartFromServers: true });
  });

  it("a key of another account than the one that is named, or one that Stripe refuses, changes nothing", async () => {
    await setKey(KEY);
    await expect(setKey(OTHER_KEY, OWN)).rejects.toMatchObject({ refusal: "key_of_other_account" });
    await expect(setKey("sk_test_nobodys")).rejects.toMatchObject({ refusal: "key_refused" });
    await expect(setKey("sk_test_nobodys", OWN)).rejects.toMatchObject({ refusal: "key_refused" });
    expect(await codeOf(world.capture(await world.authorize(CARD, 500n), "c"))).toBe("succeeded");
    expect(moved(own)).toEqual(["authorize 500", "capture 500"]);
  });
});
