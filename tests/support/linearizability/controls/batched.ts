import type { HttpCall } from "../history/http-call";

const NOT_THERE = "ffffffff-0000-4000-8000-000000000000";

/** The same history, but each capture was sent in a request for many, behind one of a payment that does not exist. */
export function batched(history: readonly HttpCall[]): HttpCall[] {
  return history.map((call) => {
    const { request, answer } = call;
    const [, paymentId] = /^\/payments\/([^/]+)\/capture$/.exec(request.path) ?? [];
    if (paymentId === undefined) return call;
    const item = { paymentId, idempotencyKey: request.key, ...(request.body as object) };
    const other = { paymentId: NOT_THERE, idempotencyKey: "none" };
    const notFound = { status: 404, headers: {}, body: { code: "payment_not_found" } };
    return {
      ...call,
      request: { method: "POST", path: "/captures", key: null, body: { captures: [other, item] } },
      answer:
        answer === null ? null : { status: 207, body: { results: [notFound, { headers: {}, ...answer }] } },
    };
  });
}
