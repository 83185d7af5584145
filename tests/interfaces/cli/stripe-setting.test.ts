import { HoldfastCli } from "../../support/program/holdfast-cli";
import { StripeStandIn } from "../../support/stripe-stand-in/stripe-stand-in";

jest.setTimeout(60_000);
const holdfast = new HoldfastCli();

describe("a server with Stripe as its gateway", () => {
  let stripe: StripeStandIn;
  beforeEach(async () => {
    stripe = new StripeStandIn();
    await stripe.listen();
  });
  afterEach(() => stripe.close());

  test("a server with Stripe as its gateway without a secret key ends with 78, and says what to set", async () => {
    const { status, stdout, stderr } = await holdfast.run(["serve", "--port", "0", "--gateway", "stripe:"]);
    expect({ status, stdout }).toEqual({ status: 78, stdout: "" });
    expect(stderr).toBe(
      "holdfast: --gateway is stripe:, which needs Stripe's secret key: set STRIPE_API_KEY",
    );
  });

  test("a server with Stripe as its gateway does not take an address with a path", async () => {
    const { status, stderr } = await holdfast.run(["serve", "--stripe-url", "http://127.0.0.1/v1"]);
    expect(status).toBe(64);
    expect(stderr).toContain("--stripe-url must be http(s)://host or http(s)://host:port");
  });

  test("a server with Stripe as its gateway moves money there, takes over what was authorized there, and has no books of its own", async () => {
    stripe.world.captureBefore = Math.floor(Date.now() / 1_000) + 86_400;
    const url = await holdfast
      .start(["serve", "--port", "0", "--gateway", "stripe:"], {
        STRIPE_API_KEY: "sk_test_abc",
        HOLDFAST_STRIPE_URL: stripe.url,
      })
      .url();
    const post = async (path: string, key: string, body: object = {}) => {
      const answer = await fetch(url + path, {
        method: "POST",
        headers: { "content-type": "application/json", "idempotency-key": key },
        body: JSON.stringify(body),
      });
      return {
        status: answer.status,
        body: (await answer.json()) as { payment: { id: string; amount: number } },
      };
    };
    const card = { amount: 5_000, currency: "EUR", paymentMethod: "pm_card_visa" };
    const { body } = await post("/payments", "order", card);
    const at = `/payments/${body.payment.id}`;
    expect((await post(`${at}/capture`, "capture")).status).toBe(201);
    expect((await post(`${at}/refunds`, "refund", { amount: 2_000 })).status).toBe(201);

    const form = new URLSearchParams({
      amount: "700",
      currency: "eur",
      payment_method: "pm_card_visa",
      capture_method: "manual",
      confirm: "true",
    });
    const { id } = stripe.world.create(form, "as asked").body as { id: string };
    const imported = await post("/payments", "import", { gatewayReference: id });
    expect(imported).toMatchObject({ status: 201, body: { payment: { amount: 700 } } });
    expect((await post("/payments", "again", { gatewayReference: id })).status).toBe(409);
    expect((await post(`/payments/${imported.body.payment.id}/void`, "void")).status).toBe(201);

    expect(stripe.world.moves.map(({ kind, amount }) => `${kind} ${amount}`)).toEqual([
      "authorize 5000",
      "capture 5000",
      "refund 2000",
      "authorize 700",
      "void 700",
    ]);
    expect((await fetch(`${url}/gateway/payments/${body.payment.id}`)).status).toBe(404);
  });
});
