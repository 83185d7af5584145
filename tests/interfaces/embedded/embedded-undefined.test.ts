import { openHoldfast, type Holdfast } from "../../../src";

jest.setTimeout(60_000);

const CARD = { amount: 1_250, currency: "EUR", paymentMethod: "tok_ok" } as const;

describe("a member that is there without a value, in a process of one's own,", () => {
  let holdfast: Holdfast;
  let paymentId: string;
  beforeEach(async () => {
    holdfast = await openHoldfast({ store: "memory:", logLevel: "silent", passInterval: 0 });
    paymentId = (await holdfast.payments.authorize({ ...CARD, idempotencyKey: "o" })).answer.payment.id;
  });
  afterEach(() => holdfast.close());

  test.each(["capture", "refund"] as const)("is not the whole amount of a %s", async (movement) => {
    if (movement === "refund") await holdfast.payments.capture({ paymentId, idempotencyKey: "c" });
    const move = (part: object) => holdfast.payments[movement]({ paymentId, idempotencyKey: "m", ...part });
    const before = await holdfast.payments.show(paymentId);
    await expect(move({ amount: undefined })).rejects.toMatchObject({
      code: "invalid_request",
      message: "amount is undefined: leave it out for all of it",
    });
    await expect(move({ amount: 500, currency: undefined })).rejects.toMatchObject({
      code: "invalid_request",
      message: "currency is undefined: leave it out for the payment's own",
    });
    await expect(move({ amount: undefined, amont: 5 })).rejects.toThrow(
      "amount is undefined: leave it out for all of it; amont is not recognized",
    );
    expect(await holdfast.payments.show(paymentId)).toEqual(before);
    await move({});
    expect(await holdfast.payments.show(paymentId)).toMatchObject(
      movement === "refund" ? { amountRefunded: 1_250 } : { amountCaptured: 1_250 },
    );
  });

  test("is not a merchant: nothing moves on behalf of another one", async () => {
    await expect(
      holdfast.payments.capture({ paymentId, idempotencyKey: "c" }, { merchant: undefined as never }),
    ).rejects.toMatchObject({
      code: "invalid_request",
      message: "merchant is undefined: leave it out for the merchant default",
    });
    expect((await holdfast.payments.show(paymentId)).status).toBe("authorized");
  });

  test("is never an amount, a currency or a reference of the gateway of what is authorized", async () => {
    for (const name of ["amount", "currency", "paymentMethod", "gatewayReference"])
      await expect(
        holdfast.payments.authorize({ ...CARD, idempotencyKey: "n", [name]: undefined }),
      ).rejects.toMatchObject({ code: "invalid_request" });
    expect((await holdfast.payments.list()).data).toHaveLength(1);
  });

  test("is as if left out where no money depends on it", async () => {
    const none = { reference: undefined, metadata: undefined, returnUrl: undefined, expiresIn: undefined };
    const caller = { operator: undefined, actor: undefined, signal: undefined, lockTimeoutMs: undefined };
    const { answer } = await holdfast.payments.authorize(
      { ...CARD, idempotencyKey: "n", ...none },
      caller as never,
    );
    expect(answer.payment.status).toBe("authorized");
    expect((await holdfast.payments.list({ status: undefined })).data).toHaveLength(2);
  });
});
