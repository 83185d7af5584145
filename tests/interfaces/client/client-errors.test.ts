import { HoldfastClient } from "../../../src/client";

const problem = { status: 400, code: "invalid_request", detail: "The body is not valid.", retryable: false };

const shopThat = (answers: typeof fetch): HoldfastClient =>
  new HoldfastClient("http://127.0.0.1:1", {
    keys: { keep: async () => "hc-17" },
    withinMs: 50,
    fetch: answers,
  });
const captureError = async (answers: typeof fetch, signal?: AbortSignal): Promise<unknown> =>
  shopThat(answers)
    .payments.capture("one", "pay_1", {}, signal === undefined ? {} : { signal })
    .catch((reason: unknown) => reason);

describe("an error of the client", () => {
  test("names the parts of the request that the server refused", async () => {
    const errors = [
      { pointer: "/amount", detail: "has to be positive" },
      { parameter: "limit", detail: "is too large" },
    ];
    const error = await captureError(async () => Response.json({ ...problem, errors }, { status: 400 }));
    expect((error as Error).message).toBe(
      "The body is not valid. (invalid_request): /amount has to be positive; limit is too large",
    );
  });

  test.each([["none"], [{}], [[null]], [[{ pointer: 7 }]]])(
    "does without the parts where they are none: %j",
    async (errors) => {
      const error = await captureError(async () => Response.json({ ...problem, errors }, { status: 400 }));
      expect((error as Error).message).toBe("The body is not valid. (invalid_request)");
    },
  );

  test.each([
    ["the server's", JSON.stringify({ ...problem, status: 429, code: "too_many_requests", retryable: true })],
    ["a proxy's", "slowly"],
  ])("says when it is worth asking again where a 429 was given up on: %s", async (_, text) => {
    const answers = async (): Promise<Response> =>
      new Response(text, { status: 429, headers: { "retry-after": "7" } });
    expect(await captureError(answers)).toMatchObject({ retryAfterMs: 7_000, idempotencyKey: "hc-17" });
  });

  test("has no time where the server gave none", async () => {
    const error = await captureError(async () => Response.json(problem, { status: 400 }));
    expect(error).toMatchObject({ retryAfterMs: null });
  });

  test("names the key where no answer came", async () => {
    const error = await captureError(() => Promise.reject(new Error("ECONNRESET")));
    expect((error as Error).message).toContain("hc-17");
  });

  test.each([
    ["before it was sent", "AbortError", AbortSignal.abort()],
    ["in the middle", "TimeoutError", AbortSignal.timeout(20)],
  ])("names the key where the caller's signal ended it %s", async (_, name, signal) => {
    const error = await captureError(
      (_url, init) =>
        new Promise((_resolve, reject) => {
          init?.signal?.addEventListener("abort", () => reject(signal.reason as Error));
        }),
      signal,
    );
    expect(error).toMatchObject({
      name,
      code: "aborted",
      idempotencyKey: "hc-17",
      cause: signal.reason as unknown,
    });
    expect((error as Error).message).toContain("hc-17");
  });

  test("names the key where the signal ended a wait for the outcome", async () => {
    const body = { payment: { id: "pay_1" }, capture: { id: "op_1" } };
    const capture = await shopThat(async () => Response.json(body, { status: 202 })).payments.capture(
      "one",
      "pay_1",
    );
    const wait = capture.waitUntilSettled({ withinMs: 60_000, signal: AbortSignal.timeout(20) });
    await expect(wait).rejects.toMatchObject({ code: "aborted", idempotencyKey: "hc-17" });
  });
});
