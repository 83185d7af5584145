import type { Kind, Verdict } from "./payment-call";
import type { OfPayment } from "./payment-model";
import { shown, withOperation, type Operation, type PaymentState } from "./payment-state";

/** A person has decided: the operation is what they say, and the payment follows from all of its operations together. */
export function decided(
  state: PaymentState,
  verdict: Verdict,
  { idOf, isTold }: Pick<OfPayment, "idOf" | "isTold">,
): PaymentState[] {
  if (verdict.outcome === "pending") return [];
  return namesOf(state, verdict, idOf).flatMap((name) => {
    if (state.open !== null && state.open !== name) return [];
    const is = verdict.outcome === "moved" ? "succeeded" : "declined";
    const byPerson = verdict.overrides ? "overridden" : "decided";
    const operation: Operation = { ...state.operations.get(name)!, is, byPerson, told: null };
    const changed = { ...withOperation(state, name, operation), open: null };
    const after = { ...changed, status: believed(changed) };
    if (succeeded(after, "capture") > 1) return [];
    const told = is === "succeeded" && isTold(name) ? shown(after) : null;
    return [withOperation(after, name, { ...operation, told })];
  });
}

/** By its id; one of which no caller was shown an id is the one that is open. */
function namesOf(state: PaymentState, { operationId, kind }: Verdict, idOf: OfPayment["idOf"]): string[] {
  const ours = [...state.operations].filter(([, one]) => one.kind === kind && one.byOthers !== true);
  const known = ours.find(([name]) => idOf(name) === operationId);
  if (known !== undefined) return [known[0]];
  return ours.flatMap(([name]) => (idOf(name) === undefined && state.open === name ? [name] : []));
}

function believed(state: PaymentState): PaymentState["status"] {
  if (succeeded(state, "capture") > 0) return "captured";
  if (state.status === "expired") return "expired";
  if (succeeded(state, "authorize") === 0) return "declined";
  return succeeded(state, "void") > 0 ? "voided" : "authorized";
}

function succeeded({ operations }: PaymentState, kind: Kind): number {
  return [...operations.values()].filter((one) => one.kind === kind && one.is === "succeeded").length;
}
