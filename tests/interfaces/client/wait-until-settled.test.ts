import { HoldfastClient, HoldfastNotSettledError, MemoryKeys } from "../../../src/client";

const CAPTURED = {
  payment: { id: "pay_1", status: "captured" },
  capture: { id: "op_1", status: "succeeded" },
};
const UNKNOWN = { payment: { id: "pay_1", status: "capturing" }, capture: { id: "op_1", status: "unknown" } };

/** A server that asks to come back in five minutes, and knows the outcome from a certain question on. */
function shopThatKnows(fromQuestion: number, askedAtMs: number[]): HoldfastClient {
  const fetching = async (): Promise<Response> => {
    askedAtMs.push(performance.now());
    return askedAtMs.length >= fromQuestion
      ? Response.json(CAPTURED)
      : Response.json(UNKNOWN, { status: 202, headers: { "retry-after": "300" } });
  };
  return new HoldfastClient("http://127.0.0.1:1", { keys: new MemoryKeys(), fetch: fetching });
}

describe("waiting for an outcome for less time than the server asks for", () => {
  test("ends with what the last question learns", async () => {
    const askedAtMs: number[] = [];
    const capture = await shopThatKnows(2, askedAtMs).payments.capture("one", "pay_1");
    const settled = await capture.waitUntilSettled({ withinMs: 400 });
    expect(settled.answer.payment.status).toBe("captured");
    expect(askedAtMs).toHaveLength(2);
  });

  test("asks no more when the time is over, and says when it is worth asking again", async () => {
    const askedAtMs: number[] = [];
    const capture = await shopThatKnows(9, askedAtMs).payments.capture("one", "pay_1");
    const beganAtMs = performance.now();
    const error: unknown = await capture
      .waitUntilSettled({ withinMs: 400 })
      .catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(HoldfastNotSettledError);
    expect((error as HoldfastNotSettledError).retryAfterMs).toBe(300_000);
    expect(performance.now() - beganAtMs).toBeLessThan(2_000);
    expect(askedAtMs).toHaveLength(2);
  });

  test("asks every five seconds meanwhile", async () => {
    const askedAtMs: number[] = [];
    const capture = await shopThatKnows(2, askedAtMs).payments.capture("one", "pay_1");
    await capture.waitUntilSettled({ withinMs: 60_000 });
    const pauseMs = (askedAtMs[1] ?? 0) - (askedAtMs[0] ?? 0);
    expect(pauseMs).toBeGreaterThanOrEqual(4_900);
    expect(pauseMs).toBeLessThan(15_000);
  }, 60_000);
});
