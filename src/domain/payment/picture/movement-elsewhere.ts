import type { OperationKind } from "../operation";
import type { Payment } from "../payment";
import { asSucceeded, newOperation } from "../record/operation-rows";
import { after, recorded, type Change } from "../record/recorded";
import type { Step } from "../step";
import type { SeenMovement } from "./gateway-picture";

const transitions = {
  capture: "capture.elsewhere",
  void: "void.elsewhere",
  refund: "refund.succeeded",
} as const;

/** A movement that was made at the gateway, and not by us: an operation that has succeeded when it is first heard of. */
export function withMovement(
  payment: Payment,
  kind: Exclude<OperationKind, "authorize">,
  { amount, reference }: SeenMovement,
  step: Step,
): Payment {
  const operation = newOperation(payment, { kind, amount, request: null, origin: "gateway" }, step);
  const told = { operationId: operation.id, amount: Number(amount), origin: operation.origin };
  const change: Change = {
    row: asSucceeded(payment, operation, reference, step),
    status: after(payment, transitions[kind]),
    history: [
      [`${kind}.succeeded`, told],
      ...(kind === "capture" ? ([["payment.captured", { amount: Number(amount) }]] as const) : []),
      ...(kind === "void" ? ([["payment.voided", {}]] as const) : []),
    ],
  };
  return recorded(payment, change, step);
}
