import {
  HoldfastClient,
  type CaptureOrder,
  type KeyPlace,
  type NewPaymentRequest,
} from "../../../src/client";

const PAYMENT = "pay_1";

let kept: string[];
let sent: string[];
let shop: HoldfastClient;
beforeEach(() => {
  kept = [];
  sent = [];
  shop = clientWith({});
});

/** What the caller's mistake leaves behind is told by what was stored and sent. */
const keys: KeyPlace = {
  async keep(name, fresh) {
    kept.push(name);
    return fresh;
  },
};
function clientWith(more: object): HoldfastClient {
  return new HoldfastClient("http://127.0.0.1:1", {
    keys,
    withinMs: 1,
    fetch: async (url) => {
      sent.push(String(url));
      return Response.json({});
    },
    ...more,
  });
}
const refused = async (promise: Promise<unknown>, code: string, words: string): Promise<void> => {
  const error: unknown = await promise.then(
    () => "it was not refused",
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(TypeError);
  expect(error).toMatchObject({ name: "HoldfastUsageError", code });
  expect((error as Error).message).toContain(words);
  expect({ kept, sent }).toEqual({ kept: [], sent: [] });
};

describe("the client refuses, before it stores or sends anything,", () => {
  test("members of one of many captures that it does not know", async () => {
    const orders = [
      { name: "one", paymentId: PAYMENT },
      { name: "two", paymentId: PAYMENT, amout: 100 },
    ];
    await refused(shop.payments.captureMany(orders), "invalid_body", 'orders[1] has "amout"');
  });

  test.each([null, "orders", { name: "one", paymentId: PAYMENT }, [null], [7], [[]]])(
    "many captures that are none: %j",
    async (orders) => {
      const odd = orders as unknown as CaptureOrder[];
      await refused(shop.payments.captureMany(odd), "invalid_body", "orders");
    },
  );

  test.each([undefined, 7, ""])("one of many captures without a payment: %p", async (paymentId) => {
    const orders = [{ name: "one", paymentId: paymentId as string }];
    await refused(shop.payments.captureMany(orders), "invalid_body", "orders[0].paymentId");
  });

  test.each([
    ["undefined", { amount: undefined }],
    ["a function", { amount: () => 5 }],
    ["a symbol", { amount: Symbol("5") }],
    ["what it is only by inheritance", Object.create({ amount: 5 })],
  ])("an amount that would not arrive, and would mean all of it: %s", async (_, body) => {
    const { payments } = shop;
    await refused(payments.capture("one", PAYMENT, body), "invalid_body", "leave it out for all of it");
    await refused(payments.refund("one", PAYMENT, body), "invalid_body", "leave it out for all of it");
    const many = Object.assign(Object.create(Object.getPrototypeOf(body)), body, {
      name: "one",
      paymentId: PAYMENT,
    });
    const orders = [{ name: "none", paymentId: PAYMENT }, many];
    await refused(payments.captureMany(orders), "invalid_body", "leave it out for all of it");
    await refused(payments.authorize("one", body as NewPaymentRequest), "invalid_body", "would not be sent");
  });

  test.each([undefined, null, "", "  ", 17, {}])("a name that is none: %p", async (given) => {
    const name = given as string;
    const { payments } = shop;
    const card = { amount: 5, currency: "EUR", paymentMethod: "tok_ok" };
    const words = "the name has to be a text";
    await refused(payments.authorize(name, card), "invalid_name", words);
    await refused(payments.capture(name, PAYMENT), "invalid_name", words);
    await refused(payments.void(name, PAYMENT), "invalid_name", words);
    await refused(payments.refund(name, PAYMENT), "invalid_name", words);
    const orders = [
      { name: "one", paymentId: PAYMENT },
      { name, paymentId: PAYMENT },
    ];
    await refused(payments.captureMany(orders), "invalid_name", words);
  });

  test.each([null, [], "all", 500])("a body that is none: %j", async (body) => {
    const odd = body as object;
    await refused(shop.payments.capture("one", PAYMENT, odd), "invalid_body", "has to be an object");
    await refused(shop.payments.refund("one", PAYMENT, odd), "invalid_body", "has to be an object");
  });
});

test("the currency of one of many captures is sent, for the server to compare", async () => {
  let body = "";
  const watching = clientWith({
    fetch: async (_url: string, init: RequestInit) => {
      body = init.body as string;
      return Response.json({});
    },
  });
  await watching.payments.captureMany([{ name: "one", paymentId: PAYMENT, amount: 5, currency: "EUR" }]);
  expect(JSON.parse(body)).toMatchObject({
    captures: [{ paymentId: PAYMENT, amount: 5, currency: "EUR", idempotencyKey: expect.any(String) }],
  });
});
