import { HoldfastClient, HoldfastUnreachableError, MemoryKeys } from "../../../src/client";

const PAYMENT = "pay_1";
const OPERATION = { id: "op_1", status: "succeeded" };
const CARD = { amount: 5, currency: "EUR", paymentMethod: "tok_ok" };

const payment = { id: PAYMENT, status: "captured" };
const another = { id: "pay_2", status: "captured" };

const shopAnswering = (body: unknown): HoldfastClient =>
  new HoldfastClient("http://127.0.0.1:1", {
    keys: new MemoryKeys(),
    withinMs: 50,
    fetch: async () => Response.json(body),
  });

const NONE: readonly unknown[] = [
  {},
  [],
  null,
  "ok",
  7,
  { payment: {} },
  { payment: { id: "" } },
  { data: null },
];

type Call = (shop: HoldfastClient) => Promise<unknown>;
const authorize: Call = (shop) => shop.payments.authorize("one", CARD);
const capture: Call = (shop) => shop.payments.capture("one", PAYMENT);
const voided: Call = (shop) => shop.payments.void("one", PAYMENT);
const refund: Call = (shop) => shop.payments.refund("one", PAYMENT);
const show: Call = (shop) => shop.payments.show(PAYMENT);
const list: Call = (shop) => shop.payments.list().next();
const history: Call = (shop) => shop.payments.history(PAYMENT).next();
const follow: Call = (shop) => shop.events.follow({ waitSeconds: 0 }).next();
const listLocks: Call = (shop) => shop.call("listLocks", {});

/** Each call, an answer that is one, and answers that are nearly one. */
const calls: readonly (readonly [string, Call, unknown, readonly unknown[]])[] = [
  ["authorize", authorize, { payment }, []],
  [
    "capture",
    capture,
    { payment, capture: OPERATION },
    [{ payment }, { payment: another, capture: OPERATION }, { payment, refund: OPERATION }],
  ],
  ["void", voided, { payment, void: OPERATION }, [{ payment }, { payment: another, void: OPERATION }]],
  [
    "refund",
    refund,
    { payment, refund: OPERATION },
    [
      { payment, refund: { id: 7 } },
      { payment, refund: [] },
    ],
  ],
  ["show", show, { payment }, [{ payment: another }]],
  [
    "list",
    list,
    { data: [payment], nextCursor: null },
    [{ data: [payment] }, { data: [null], nextCursor: null }, { data: {}, nextCursor: null }],
  ],
  ["history", history, { data: [], nextCursor: null }, [{ data: [{}], nextCursor: 7 }]],
  ["follow", follow, { data: [{}], nextCursor: "c" }, [{ data: [{}] }, { data: [{}], nextCursor: null }]],
  ["call", listLocks, { data: [] }, [{ locks: [] }]],
];

describe.each(calls)("what %s is answered with", (_, call, answer, nearly) => {
  test("is given as it is where it has the shape of an answer", async () => {
    await expect(call(shopAnswering(answer))).resolves.toBeDefined();
  });

  test.each([...NONE, ...nearly].map((body) => [body]))("is no answer where it is %j", async (body) => {
    await expect(call(shopAnswering(body))).rejects.toBeInstanceOf(HoldfastUnreachableError);
  });
});

describe("what many captures are answered with", () => {
  const captured = { status: 200, headers: {}, body: { payment, capture: OPERATION } };
  const problem = { status: 402, code: "capture_declined", detail: "no", retryable: false };
  const orders = [{ name: "one", paymentId: PAYMENT }];
  const outcomeOf = async (body: unknown): Promise<string | undefined> => {
    const [outcome] = await shopAnswering(body).payments.captureMany(orders);
    if (outcome?.outcome === "unanswered") expect(outcome.error).toBeInstanceOf(HoldfastUnreachableError);
    return outcome?.outcome;
  };

  test("is given as it is where it has the shape of an answer", async () => {
    expect(await outcomeOf({ results: [captured] })).toBe("captured");
    expect(await outcomeOf({ results: [{ status: 402, headers: {}, body: problem }] })).toBe("refused");
  });

  test.each<unknown>([
    {},
    { results: {} },
    { results: [] },
    { results: [captured, captured] },
    { results: [null] },
    { results: [{ ...captured, status: "200" }] },
    { results: [{ ...captured, headers: undefined }] },
    { results: [{ ...captured, body: { payment } }] },
    { results: [{ ...captured, body: { payment: another, capture: OPERATION } }] },
    { results: [{ status: 402, headers: {}, body: { detail: "no" } }] },
  ])("leaves an order unanswered where it is %j", async (body) => {
    expect(await outcomeOf(body)).toBe("unanswered");
  });
});
