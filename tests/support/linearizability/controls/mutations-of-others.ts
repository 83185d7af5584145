import type { HttpCall } from "../history/http-call";
import type { KindOfHistory } from "./honest-payment";
import {
  captureOf,
  changed,
  has,
  isMoves,
  isRead,
  mutations,
  payment,
  problem,
  type Mutation,
} from "./mutations";

interface Shown {
  readonly id: string;
  readonly status: string;
}

const isDecision = ({ request: { method, path }, answer }: HttpCall) =>
  method === "POST" && path.startsWith("/reviews/") && answer?.status === 200;

const bodyOf = ({ request }: HttpCall) => request.body as { outcome: string; overrideReason?: string };

/** Of a capture or a refund, which every reader is shown from then on. */
function decisionOf(
  history: readonly HttpCall[],
  isMeant: (call: HttpCall) => boolean = () => true,
): HttpCall | undefined {
  return history.find(
    (call) => isDecision(call) && call.answer!.body.operation.kind !== "void" && isMeant(call),
  );
}

/** The last read, with the operation that was decided shown as something else. */
function shownAs(history: readonly HttpCall[], decision: HttpCall | undefined, status: string) {
  if (decision === undefined) return null;
  const { id, kind } = decision.answer!.body.operation as { id: string; kind: string };
  return changed(history, history.findLast(isRead), ({ status: code, body }) => {
    const list = `${kind}s`;
    const operations = (body.payment[list] as Shown[]).map((one) =>
      one.id === id ? { ...one, status } : one,
    );
    return payment({ [list]: operations })({ status: code, body });
  });
}

const isDisputed = (call: HttpCall) =>
  isRead(call) && call.answer !== null && call.answer.body.payment.disputes.length > 0;

const lastDisputed = (history: readonly HttpCall[]) => history.findLast(isDisputed);

/** Mistakes with what is not a caller's movement: by the kind of history that has a place for them. */
const ofKinds: Readonly<Record<KindOfHistory, Readonly<Record<string, Mutation>>>> = {
  ordinary: {},

  reviewed: {
    "an invented verdict: nobody has decided that nothing moved": (history) => {
      const decision = decisionOf(history, (call) => bodyOf(call).outcome === "not_moved");
      const { request } = decision ?? {};
      return decision === undefined ? null : history.filter((call) => call.request.path !== request!.path);
    },

    "an invented verdict: nobody has decided that money moved which the gateway does not know of": (
      history,
    ) => {
      const isMoved = (call: HttpCall) =>
        bodyOf(call).outcome === "moved" && bodyOf(call).overrideReason !== undefined;
      const { request } = decisionOf(history, isMoved) ?? {};
      return request === undefined ? null : history.filter((call) => call.request.path !== request.path);
    },

    "a lost verdict: acknowledged, and shown as open afterwards": (history) =>
      shownAs(history, decisionOf(history), "unknown"),

    "a verdict that was turned round: decided one way, and shown the other": (history) => {
      const decision = decisionOf(history);
      return shownAs(
        history,
        decision,
        decision !== undefined && bodyOf(decision).outcome === "moved" ? "failed" : "succeeded",
      );
    },

    "a verdict that its own answer turns round": (history) =>
      changed(history, decisionOf(history), ({ status, body }) => {
        const { operation } = body;
        const other = operation.status === "failed" ? "succeeded" : "failed";
        return { status, body: { ...body, operation: { ...operation, status: other } } };
      }),

    "a lost override: what the gateway says counts again": (history) => {
      const decision = decisionOf(history, (call) => bodyOf(call).overrideReason !== undefined);
      return shownAs(
        history,
        decision,
        decision !== undefined && bodyOf(decision).outcome === "moved" ? "failed" : "succeeded",
      );
    },

    "money moved against a verdict that agreed with the gateway": (history) => {
      const decision = decisionOf(
        history,
        (call) => bodyOf(call).outcome === "not_moved" && bodyOf(call).overrideReason === undefined,
      );
      if (decision === undefined) return null;
      const { kind, amount } = decision.answer!.body.operation;
      // It would be money whose move a person has claimed, and which the gateway shows late.
      const overridden = (call: HttpCall) =>
        bodyOf(call).overrideReason !== undefined && call.answer!.body.operation.kind === kind;
      if (decisionOf(history, overridden) !== undefined) return null;
      return changed(history, history.findLast(isMoves), ({ status, body }) => ({
        status,
        body: { moves: [...body.moves, { kind, amount, gatewayKey: "another" }] },
      }));
    },
  },

  disputed: {
    "a dispute counted twice: it is shown twice": (history) =>
      changed(history, lastDisputed(history), ({ status, body }) => {
        const [one] = body.payment.disputes as Shown[];
        return payment({ disputes: [one, { ...one, id: "another" }] })({ status, body });
      }),

    "a dispute counted twice: its amount is counted as refunded": (history) =>
      changed(history, lastDisputed(history), ({ status, body }) => {
        const { amountRefunded, disputes } = body.payment;
        return payment({ amountRefunded: amountRefunded + disputes[0].amount })({ status, body });
      }),

    "a dispute is forgotten": (history) => {
      const last = history.findLast(isRead);
      const wasShown = history.some(
        (call) => isDisputed(call) && call.end !== null && call.end < (last?.begin ?? 0),
      );
      return wasShown ? changed(history, last, payment({ disputes: [] })) : null;
    },

    "a dispute goes back": (history) => {
      const last = lastDisputed(history);
      const wasFurther = history.some(
        (call) =>
          isRead(call) &&
          call.end !== null &&
          call.end < (last?.begin ?? 0) &&
          !["needs_response", undefined].includes(call.answer?.body.payment.disputes?.[0]?.status),
      );
      const before = { status: "needs_response", amount: 100, id: "dispute" };
      return wasFurther ? changed(history, last, payment({ disputes: [before] })) : null;
    },

    "a dispute gets into the answer of a key": (history) =>
      changed(
        history,
        lastDisputed(history) &&
          history.findLast((call) => call.request.path.endsWith("/refunds") && has(201)(call)),
        payment({ disputes: lastDisputed(history)?.answer!.body.payment.disputes }),
      ),
  },

  imported: {
    "an import loses captured money: the payment is shown as it was taken over": (history) =>
      changed(
        history,
        captureOf(history) && history.findLast(isRead),
        payment({ status: "authorized", amountCaptured: 0, amountRefunded: 0, captures: [], refunds: [] }),
      ),

    "an import loses captured money: the gateway does not know of it": (history) =>
      changed(history, captureOf(history) && history.findLast(isMoves), ({ status }) => ({
        status,
        body: { moves: [] },
      })),

    "an import is of another amount than the gateway holds": (history) =>
      changed(history, history.findLast(isRead), ({ status, body }) =>
        payment({ amount: body.payment.amount - 1 })({ status, body }),
      ),

    "an import moves money by itself": (history) =>
      changed(history, history.findLast(isMoves), ({ status, body }) => ({
        status,
        body: { moves: [{ kind: "authorize", amount: 100, gatewayKey: "another" }, ...body.moves] },
      })),

    "an import that was refused has made a payment": (history) =>
      history.map((call) =>
        call.request.path === "/payments" && call.answer !== null
          ? { ...call, answer: problem(404, "authorization_not_found")() }
          : call,
      ),

    "one authorization is imported as two payments": (history) => {
      const made = history.find((call) => call.request.path === "/payments" && has(201)(call));
      if (made === undefined) return null;
      const again = payment({ id: "ffffffff-0000-4000-8000-00000000000e" })(made.answer!);
      return [...history, { ...made, request: { ...made.request, key: "another" }, answer: again }];
    },
  },
};

/** In whatever kind of history. */
const inEach = Object.entries(mutations).filter(([name]) =>
  /^(an answer is changed|a stale read|a doubled capture|a lost acknowledgement):/.test(name),
);

export function mutationsOf(kind: KindOfHistory): readonly (readonly [string, Mutation])[] {
  return kind === "ordinary" ? Object.entries(mutations) : [...inEach, ...Object.entries(ofKinds[kind])];
}
