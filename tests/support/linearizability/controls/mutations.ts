import type { HttpAnswer, HttpCall } from "../history/http-call";

/** Puts a mistake of a server into a good history. Null: there is no place for it in this one. */
export type Mutation = (history: readonly HttpCall[]) => HttpCall[] | null;

interface Move {
  readonly kind: string;
}

export type IsIt = (call: HttpCall) => boolean;

export const isRead: IsIt = ({ request }) =>
  request.method === "GET" && request.path.startsWith("/payments/");
export const isMoves: IsIt = ({ request }) => request.path.startsWith("/gateway/");
const isCapture: IsIt = ({ request }) => request.path.endsWith("/capture");
const isRefund: IsIt = ({ request }) => request.path.endsWith("/refunds");
export const has =
  (status: number, code?: string): IsIt =>
  ({ answer }) =>
    answer?.status === status && answer.body.code === code;
const both =
  (...all: IsIt[]): IsIt =>
  (call) =>
    all.every((is) => is(call));

export function changed(
  history: readonly HttpCall[],
  which: HttpCall | undefined,
  change: (answer: HttpAnswer) => HttpAnswer,
): HttpCall[] | null {
  if (which === undefined) return null;
  return history.map((call) => (call === which ? { ...call, answer: change(call.answer!) } : call));
}

export const problem = (status: number, code: string) => (): HttpAnswer => ({ status, body: { code } });

export const payment =
  (facts: object) =>
  ({ status, body }: HttpAnswer): HttpAnswer => ({
    status,
    body: { ...body, payment: { ...body.payment, ...facts } },
  });

export const captureOf = (history: readonly HttpCall[]) => history.find(both(isCapture, has(201)));
/** Reads after a capture was acknowledged. */
const readAfter = (history: readonly HttpCall[], capture: HttpCall | undefined) =>
  history.findLast((call) => isRead(call) && capture !== undefined && call.begin > capture.end!);
const uncaptured = { status: "authorized", amountCaptured: 0, amountRefunded: 0, captures: [], refunds: [] };

export const mutations: Readonly<Record<string, Mutation>> = {
  "an answer is changed: what was captured is said to be declined": (history) =>
    changed(history, captureOf(history), problem(402, "capture_declined")),

  "an answer is changed: another amount": (history) =>
    changed(history, captureOf(history), ({ status, body }) =>
      payment({ amountCaptured: body.payment.amountCaptured + 1 })({ status, body }),
    ),

  "a stale read: the payment as it was before a capture that was acknowledged": (history) =>
    changed(history, readAfter(history, captureOf(history)), payment(uncaptured)),

  "a doubled capture: a second key is told that it captured": (history) => {
    const capture = captureOf(history);
    const refused = history.find(
      (call) =>
        isCapture(call) &&
        has(409, "payment_already_captured")(call) &&
        call.request.key !== capture?.request.key,
    );
    if (capture === undefined) return null;
    return changed(history, refused, () => ({
      status: 201,
      body: { ...capture.answer!.body, capture: { ...capture.answer!.body.capture, id: "another" } },
    }));
  },

  "a doubled capture: the money moved twice": (history) =>
    changed(history, captureOf(history) && history.findLast(isMoves), ({ status, body }) => {
      const again = (body.moves as Move[]).find(({ kind }) => kind === "capture");
      return { status, body: { moves: [...body.moves, { ...again, gatewayKey: "another" }] } };
    }),

  "a lost acknowledgement: in the end, neither store nor gateway knows the capture": (history) => {
    if (captureOf(history) === undefined) return null;
    const forgotten = changed(history, history.findLast(isRead), payment(uncaptured))!;
    return changed(forgotten, forgotten.findLast(isMoves), ({ status, body }) => ({
      status,
      body: { moves: (body.moves as Move[]).filter(({ kind }) => kind === "authorize") },
    }));
  },

  "a lost movement: the store knows a capture that the gateway does not": (history) =>
    changed(history, captureOf(history) && history.findLast(isMoves), ({ status, body }) => ({
      status,
      body: { moves: (body.moves as Move[]).filter(({ kind }) => kind !== "capture") },
    })),

  "a dirty read: a capture is shown before anybody asked for it": (history) => {
    const first = history.find(isCapture);
    const early = history.find((call) => isRead(call) && call.end !== null && call.end < (first?.begin ?? 0));
    return changed(history, early, payment({ status: "captured", amountCaptured: 100 }));
  },

  "a refusal before its reason: captured by another key, when no other key had begun": (history) => {
    const captures = history.filter(isCapture);
    const [first, second] = captures;
    if (first?.answer?.status !== 202 || first.end === null || second!.begin < first.end) return null;
    return changed(history, first, problem(409, "payment_already_captured"));
  },

  "a key forgets its outcome: not known any more, after the answer was final": (history) => {
    const capture = captureOf(history);
    const again = history.find(
      (call) =>
        isCapture(call) &&
        call.request.key === capture?.request.key &&
        call.answer !== null &&
        call.begin > capture.end!,
    );
    return changed(history, again, ({ body }) => ({
      status: 202,
      body: {
        ...capture!.answer!.body,
        ...body,
        capture: { ...capture!.answer!.body.capture, status: "unknown" },
      },
    }));
  },

  "a key has two operations": (history) => {
    const capture = captureOf(history);
    const again = history.find(
      (call) =>
        call !== capture && both(isCapture, has(201))(call) && call.request.key === capture?.request.key,
    );
    return changed(history, again, ({ status, body }) => ({
      status,
      body: { ...body, capture: { ...body.capture, id: "another" } },
    }));
  },

  "a key is used for two requests, and both are carried out": (history) => {
    const capture = captureOf(history);
    const reused = history.find(
      (call) =>
        isCapture(call) &&
        has(422, "idempotency_key_reused")(call) &&
        call.request.key === capture?.request.key,
    );
    return changed(history, reused, () => capture!.answer!);
  },

  "a payment that is there is not found": (history) =>
    changed(history, history.findLast(isRead), problem(404, "payment_not_found")),

  "an answer that no table has": (history) =>
    changed(
      history,
      history.find(both(isCapture, has(409, "payment_already_captured"))),
      problem(500, "internal_error"),
    ),

  "nothing was sent, says the only answer of the only key, and the money moved": (history) => {
    const captures = history.filter(isCapture);
    const capture = captureOf(history);
    const isOnly = captures.filter(({ request }) => request.key === capture?.request.key).length === 1;
    if (!isOnly || captures.some(({ answer }) => answer === null)) return null;
    return changed(history, capture, problem(503, "gateway_unavailable"));
  },

  "a refusal that refuses nothing: a lock timeout, and the capture happened": (history) => {
    const capture = captureOf(history);
    const others = history.filter((call) => isCapture(call) && call !== capture);
    const wereRefused = others.every(({ answer }) => (answer?.status ?? 0) >= 409 && answer?.status !== 503);
    return wereRefused ? changed(history, capture, problem(503, "lock_timeout")) : null;
  },

  "more is refunded than was asked for": (history) => {
    const last = history.findLast(isRead);
    if (last?.answer?.body.payment.status !== "captured") return null;
    const { amountRefunded } = last.answer.body.payment;
    return changed(history, last, payment({ amountRefunded: amountRefunded + 10 }));
  },

  "a refusal names another amount than is left": (history) =>
    changed(
      history,
      history.find(both(isRefund, has(422, "amount_exceeds_captured"))),
      ({ status, body }) => ({
        status,
        body: { ...body, maxAmount: body.maxAmount + 1 },
      }),
    ),

  "an authorization's key has two payments": (history) => {
    const created = history.filter((call) => call.request.path === "/payments" && has(201)(call));
    return changed(history, created.length > 1 ? created.at(-1) : undefined, payment({ id: "another" }));
  },

  "time runs backwards: an answer that was there before its request could be made": (history) => {
    const capture = captureOf(history);
    if (capture === undefined) return null;
    const begin = history[0]!.begin - 2;
    return history.map((call) => (call === capture ? { ...call, begin, end: begin + 1 } : call));
  },

  "captured money is let go as well": (history) =>
    changed(history, captureOf(history) && history.findLast(isMoves), ({ status, body }) => ({
      status,
      body: { moves: [...body.moves, { kind: "void", gatewayKey: "another", amount: 100 }] },
    })),
};
