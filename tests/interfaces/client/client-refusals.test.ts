import {
  HoldfastClient,
  type CallOptions,
  type CaptureOrder,
  type HoldfastClientOptions,
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
  const settings = {
    keys,
    withinMs: 1,
    fetch: async (url: string) => {
      sent.push(url);
      return Response.json({});
    },
    ...more,
  };
  return new HoldfastClient("http://127.0.0.1:1", settings as unknown as HoldfastClientOptions);
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

  test.each<[string, object | null | number]>([
    ["withinMs has to be a number of milliseconds", { withinMs: NaN }],
    ["withinMs has to be a number of milliseconds", { withinMs: 0 }],
    ["withinMs has to be a number of milliseconds", { withinMs: null }],
    ["withinMs has to be a number of milliseconds", { withinMs: "1000" }],
    ['"sigal" is no option', { sigal: AbortSignal.abort() }],
    ["signal has to be an AbortSignal", { signal: "now" }],
    ["options have to be an object", null],
    ["options have to be an object", 1_000],
  ])("options of one call that are none: %s", async (words, given) => {
    const options = given as CallOptions;
    const { payments, events } = shop;
    const card = { amount: 5, currency: "EUR", paymentMethod: "tok_ok" };
    for (const call of [
      () => payments.authorize("one", card, options),
      () => payments.capture("one", PAYMENT, {}, options),
      () => payments.void("one", PAYMENT, options),
      () => payments.refund("one", PAYMENT, {}, options),
      () => payments.captureMany([{ name: "one", paymentId: PAYMENT }], options),
      () => payments.show(PAYMENT, options),
      () => payments.list({}, options).next(),
      () => payments.history(PAYMENT, options).next(),
      () => events.follow(options).next(),
      () => shop.call("listLocks", {}, options),
    ])
      await refused(call(), "invalid_option", words);
  });

  test.each([NaN, -1, Infinity, "20"])("seconds to wait for news that are none: %p", async (waitSeconds) => {
    const odd = waitSeconds as number;
    await refused(shop.events.follow({ waitSeconds: odd }).next(), "invalid_option", "waitSeconds has to be");
  });

  test.each([null, [], "all", 500])("a body that is none: %j", async (body) => {
    const odd = body as object;
    await refused(shop.payments.capture("one", PAYMENT, odd), "invalid_body", "has to be an object");
    await refused(shop.payments.refund("one", PAYMENT, odd), "invalid_body", "has to be an object");
  });
});

test.each([{ withinMs: NaN }, { sigal: 1 }])("a wait for an outcome refuses options: %j", async (given) => {
  const capture = await clientWith({
    fetch: async () => Response.json({ payment: { id: PAYMENT }, capture: { id: "op_1" } }, { status: 202 }),
  }).payments.capture("one", PAYMENT);
  await expect(capture.waitUntilSettled(given as CallOptions)).rejects.toMatchObject({
    code: "invalid_option",
  });
});

describe("a client is not made", () => {
  test.each([undefined, "", "127.0.0.1:8080", "localhost:8080", "ftp://holdfast", "file:///tmp", 8080])(
    "without an address of HTTP: %p",
    (url) => {
      const odd = () => new HoldfastClient(url as string, { keys });
      expect(odd).toThrow("the server's address begins with http:// or https://");
    },
  );

  test.each([
    ["keys is missing", {}],
    ["keys is missing", { keys: undefined }],
    ["keys is missing", { keys: { get: () => null } }],
    ["options have to be an object", undefined],
    ["options have to be an object", null],
    ['"apikey" is no option', { keys, apikey: "hf_1" }],
    ['"withinMS" is no option', { keys, withinMS: 5 }],
    ["fetch has to be a function", { keys, fetch: "undici" }],
    ["apiKey is empty", { keys, apiKey: 7 }],
  ])("with options that are none: %s", (words, options) => {
    const odd = () => new HoldfastClient("http://127.0.0.1:1", options as HoldfastClientOptions);
    expect(odd).toThrow(words);
    expect(odd).toThrow(expect.objectContaining({ code: "invalid_option" }));
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
