import { openHoldfast, type EmbeddedPayments, type Holdfast } from "../../../src";

jest.setTimeout(60_000);

type UseCase = keyof EmbeddedPayments;
type Arguments = readonly (Readonly<Record<string, unknown>> | string)[];

/** A call of each that is right. A use case that is not here does not compile, and a test names it. */
const rightCalls = (paymentId: string): Record<UseCase, Arguments> => ({
  authorize: [{ idempotencyKey: "o-2", amount: 1_250, currency: "EUR", paymentMethod: "tok_ok" }, {}],
  capture: [{ paymentId, idempotencyKey: "c" }, {}],
  void: [{ paymentId, idempotencyKey: "v" }, {}],
  refund: [{ paymentId, idempotencyKey: "r" }, {}],
  show: [paymentId, {}],
  list: [{}, {}],
  history: [paymentId, {}],
  observe: [paymentId, {}],
});
const useCases = Object.keys(rightCalls("")) as UseCase[];

describe("what the use cases of Holdfast in a process of one's own take", () => {
  let holdfast: Holdfast;
  let paymentId: string;
  beforeEach(async () => {
    holdfast = await openHoldfast({ store: "memory:", logLevel: "silent", passInterval: 0 });
    const card = { amount: 1_250, currency: "EUR", paymentMethod: "tok_ok" };
    const { answer } = await holdfast.payments.authorize({ ...card, idempotencyKey: "o" });
    paymentId = answer.payment.id;
  });
  afterEach(() => holdfast.close());

  const call = (useCase: UseCase, given: readonly unknown[]): Promise<unknown> =>
    (holdfast.payments[useCase] as (...given: unknown[]) => Promise<unknown>).apply(holdfast.payments, [
      ...given,
    ]);
  const isUntouched = async (): Promise<void> => {
    expect(await holdfast.payments.show(paymentId)).toMatchObject({
      status: "authorized",
      amountCaptured: 0,
    });
    expect((await holdfast.payments.list()).data).toHaveLength(1);
  };

  test("is known of all of them", () => {
    const inner = ["constructor", "move"];
    const there = Object.getOwnPropertyNames(Object.getPrototypeOf(holdfast.payments)).filter(
      (name) => !inner.includes(name),
    );
    expect(there.sort()).toEqual([...useCases].sort());
  });

  test.each(useCases)("has no member that they do not know, in any argument: %s", async (useCase) => {
    const right = rightCalls(paymentId)[useCase];
    const objects = right.flatMap((argument, at) => (typeof argument === "object" ? [at] : []));
    expect(objects).toContain(1);
    for (const at of objects) {
      const given = right.map((argument, n) =>
        n === at ? { ...(argument as object), unheardOf: 5 } : argument,
      );
      await expect(call(useCase, given)).rejects.toMatchObject({
        code: "invalid_request",
        message: "unheardOf is not recognized",
      });
    }
    if (typeof right[0] === "string")
      await expect(call(useCase, [{ paymentId }, {}])).rejects.toMatchObject({ code: "invalid_payment_id" });
    await isUntouched();
  });

  test("is no amount for a void, which releases everything", async () => {
    await expect(call("void", [{ paymentId, idempotencyKey: "v", amount: 5 }])).rejects.toMatchObject({
      code: "invalid_request",
      message: "amount is not recognized",
    });
    await isUntouched();
  });

  test.each([undefined, null, "text", 5, []])("is an object: %j", async (none) => {
    for (const useCase of useCases.filter((name) => typeof rightCalls(paymentId)[name][0] === "object")) {
      // The list of everything needs no wish.
      if (useCase === "list" && none === undefined) continue;
      await expect(call(useCase, [none])).rejects.toMatchObject({
        code: "invalid_request",
        message: "the request must be an object",
      });
    }
    await isUntouched();
  });

  test("is an amount, too, where the order is of a class that has it", async () => {
    class Order {
      constructor(
        readonly paymentId: string,
        readonly idempotencyKey: string,
      ) {}
      get amount(): number {
        return 500;
      }
    }
    await holdfast.payments.capture(new Order(paymentId, "c"));
    expect((await holdfast.payments.show(paymentId)).amountCaptured).toBe(500);
  });
});
