import type { HttpCall } from "../history/http-call";
import type { Kind, Verdict } from "./payment-call";

interface Case {
  readonly operationId: string;
  readonly paymentId: string;
  readonly kind: Kind;
  /** As callers see it. Left out: the list was not read. */
  readonly status?: string;
}

const ENDED = /^(succeeded|failed)$/;
const DECISION = /^\/reviews\/([\w-]+)$/;

/** Which payment a verdict is about is in the list that the person read, or in the verdict's own answer. */
export function reviewsIn(history: readonly HttpCall[]) {
  const cases = new Map<string, Case>();
  for (const { request, answer } of history) {
    if (answer?.status !== 200) continue;
    const [, operationId] = DECISION.exec(request.path) ?? [];
    const { operation, payment, data } = answer.body as {
      operation: { kind: Kind };
      payment: { id: string };
      data: readonly Case[];
    };
    if (operationId !== undefined)
      cases.set(operationId, {
        ...cases.get(operationId),
        operationId,
        paymentId: payment.id,
        kind: operation.kind,
      });
    else if (request.path.split("?")[0] === "/reviews")
      for (const one of data) cases.set(one.operationId, one);
  }
  const verdictIn = ({ request: { method, path, body } }: HttpCall): { id: string; asks: Verdict } | null => {
    const found = method === "POST" ? cases.get(DECISION.exec(path)?.[1] ?? "") : undefined;
    if (found === undefined) return null;
    const { operationId, kind, status = "succeeded" } = found;
    const { outcome, overrideReason } = body as Pick<Verdict, "outcome"> & { overrideReason?: string };
    const asks: Verdict = {
      for: "verdict",
      operationId,
      kind,
      outcome,
      overrides: overrideReason !== undefined,
      mayGoBack: ENDED.test(status),
    };
    return { id: found.paymentId, asks };
  };
  return { verdictIn };
}
