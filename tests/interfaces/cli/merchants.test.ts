import { HoldfastCli } from "../../support/program/holdfast-cli";
import { StripeStandIn } from "../../support/stripe-stand-in/stripe-stand-in";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();
const ACCOUNT = "acct_1032D82eZvKYlo2C";

describe("holdfast merchants", () => {
  const merchants = (...args: string[]) => holdfast.run(["merchants", ...args, "--json"]);
  beforeEach(async () => {
    // Only this command makes a store.
    expect((await holdfast.run(["keys", "create", "--merchant", "acme"])).status).toBe(0);
  });

  test("holdfast merchants sets, shows, lists and unsets the account of a merchant", async () => {
    const set = await merchants("set", "acme", "--stripe-account", ACCOUNT);
    expect(set.status).toBe(0);
    const shown = { merchant: "acme", account: ACCOUNT, setAt: expect.any(String) };
    expect(JSON.parse(set.stdout)).toEqual(shown);
    expect(JSON.parse((await merchants("list")).stdout)).toEqual([shown]);
    expect(JSON.parse((await merchants("show", "acme")).stdout)).toEqual(shown);
    expect(JSON.parse((await merchants("show", "zoo")).stdout)).toMatchObject({ account: null });
    expect((await merchants("unset", "acme")).status).toBe(0);
    expect(JSON.parse((await merchants("list")).stdout)).toEqual([]);
    expect(await merchants("unset", "acme")).toMatchObject({
      status: 64,
      stderr: expect.stringContaining("acme has no account of its own"),
    });
  });

  test.each([
    [["set", "acme", "--stripe-account", "1032D82eZvKYlo2C"], "--stripe-account must be acct_"],
    [["set", "acme", "--stripe-account", "acct_a/../b"], "--stripe-account must be acct_"],
    [["set", "Not a merchant", "--stripe-account", ACCOUNT], "a merchant is 1 to 63"],
    [["set", "acme"], "--stripe-account"],
  ])("holdfast merchants refuses %j with 64", async (args, words) => {
    expect(await merchants(...args)).toMatchObject({ status: 64, stderr: expect.stringContaining(words) });
  });

  test("holdfast merchants refuses a store that is not there", async () => {
    const elsewhere = ["--store", "sqlite:./nowhere.db"];
    expect(await holdfast.run(["merchants", "list", ...elsewhere])).toMatchObject({ status: 69 });
  });
});

describe("a running server with Stripe", () => {
  let stripe: StripeStandIn;
  beforeEach(async () => {
    stripe = new StripeStandIn();
    await stripe.listen();
  });
  afterEach(() => stripe.close());

  test("a running server with Stripe sends the next payment of a merchant to the account that was set, and what has begun to where it was", async () => {
    const own = stripe.connect(ACCOUNT);
    const env = {
      STRIPE_API_KEY: "sk_test_abc",
      HOLDFAST_STRIPE_URL: stripe.url,
      HOLDFAST_GATEWAY: "stripe:",
    };
    const url = await holdfast.start(["serve", "--port", "0"], env).url();
    const post = async (path: string, key: string, body: object = {}) => {
      const answer = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(body),
      });
      return (await answer.json()) as { payment: { id: string; status: string } };
    };
    const card = { amount: 5_000, currency: "EUR", paymentMethod: "pm_card_visa" };

    const before = (await post("/payments", "one", card)).payment.id;
    const set = await holdfast.run(["merchants", "set", "default", "--stripe-account", ACCOUNT], env);
    expect(set.status).toBe(0);
    const after = (await post("/payments", "two", card)).payment.id;
    for (const id of [before, after])
      expect((await post(`/payments/${id}/capture`, `capture ${id}`.replace(" ", "-"))).payment.status).toBe(
        "captured",
      );
    const moves = (world: typeof own) => world.moves.map(({ kind, paymentId }) => [kind, paymentId]);
    expect(moves(stripe.world)).toEqual([
      ["authorize", before],
      ["capture", before],
    ]);
    expect(moves(own)).toEqual([
      ["authorize", after],
      ["capture", after],
    ]);
  });
});
