import type { HttpAnswer, HttpCall } from "../history/http-call";

interface Item {
  readonly paymentId: string;
  readonly idempotencyKey: string;
  readonly amount?: number;
  readonly currency?: string;
}

/**
 * Each capture of `POST /captures` as if it had come alone, between the same two moments. What answers the request as a whole is
 * the answer of each: nothing of it was begun.
 */
export function withoutBatches(history: readonly HttpCall[]): HttpCall[] {
  return history.flatMap((call) => {
    const { request, answer } = call;
    if (request.method !== "POST" || request.path !== "/captures") return [call];
    const { captures } = request.body as { captures: readonly Item[] };
    return captures.map(({ paymentId, idempotencyKey: key, ...body }, at) => ({
      ...call,
      request: { method: "POST", path: `/payments/${paymentId}/capture`, key, body },
      answer: answer === null ? null : resultIn(answer, at),
    }));
  });
}

function resultIn(answer: HttpAnswer, at: number): HttpAnswer {
  if (answer.status !== 207) return answer;
  const { results } = answer.body as { results: readonly HttpAnswer[] };
  const { status, body } = results[at]!;
  return { status, body };
}
