import type { OperationId } from "../../identifiers";
import type { GatewayStatement } from "../facts";
import { isFinished, isRelease, progressed, type Operation } from "../operation";
import { openOperationOf, type Payment } from "../payment";
import { contradicted, withPendingReview } from "../record/doubts";
import { declinedCodes, mustHave } from "../record/operation-rows";
import { after, nextSequence, recorded, type Change } from "../record/recorded";
import type { Step } from "../step";

/** What a statement of the gateway means for an operation that has ended. */
export type Comparison = "agrees" | "proves_nothing" | "failed_later" | "contradicts";

/**
 * Writes down what the gateway says now about an operation that has ended. A refund that failed after it had succeeded is
 * corrected; any other contradiction goes before a person. Where a person has to decide already, one statement more
 * decides nothing, and where a person has decided against the gateway it is left at that.
 */
export function observe(payment: Payment, id: OperationId, seen: GatewayStatement, step: Step): Payment {
  const operation = mustHave(payment, id);
  if (operation.conflicted || step.overridden?.has(id) === true) return payment;
  switch (compare(payment, operation, seen)) {
    case "agrees":
    case "proves_nothing":
      return payment;
    case "failed_later":
      return corrected(payment, operation, seen, step);
    case "contradicts":
      return contradicted(payment, operation, seen, step);
  }
}

/** The gateway shows what is there now, and much of it was another operation's doing: that contradicts nothing. */
export function compare(payment: Payment, operation: Operation, seen: GatewayStatement): Comparison {
  if (!isFinished(operation)) return "proves_nothing";
  const isSuccess = operation.status === "succeeded";
  switch (seen.outcome) {
    case "absent":
    case "pending":
    case "requires_action":
    case "unknown":
      return "proves_nothing";
    case "mismatch":
      // What fits a failed operation in no way is another one's.
      return isSuccess && canShowItself(payment, operation) ? "contradicts" : "proves_nothing";
    case "succeeded":
      if (isSuccess) return "agrees";
      return canShowItself(payment, operation) ? "contradicts" : "proves_nothing";
    case "authorization_gone":
      // That it is gone later does not mean that it never was there; and gone is what a void is for.
      if (!isSuccess || operation.kind === "void") return "agrees";
      return operation.kind === "authorize" ? "proves_nothing" : "contradicts";
    case "declined":
      if (!isSuccess || isRelease(operation)) return "agrees";
      if (operation.kind === "refund") return "failed_later";
      return canShowItself(payment, operation) ? "contradicts" : "proves_nothing";
  }
}

/**
 * Whether what the gateway shows can be this operation's own doing. Authorizations and voids are looked up in the state of
 * the authorization alone, which captures and other voids change, too.
 */
function canShowItself(payment: Payment, operation: Operation): boolean {
  switch (operation.kind) {
    case "authorize":
      return operation.status === "failed" ? !isLetGo(payment) : isLeftAlone(payment);
    case "void":
      return operation.status === "failed" ? isLeftAlone(payment) : payment.facts.status !== "captured";
    case "capture":
    case "refund":
      return true;
  }
}

/** Not waited for any more: what the customer has reserved since is let go by the void that followed. */
function isLetGo({ facts }: Payment): boolean {
  return facts.operations.some(({ kind, status }) => kind === "void" && status !== "failed");
}

/** Nothing has been done with the authorization yet, or is being done. */
function isLeftAlone(payment: Payment): boolean {
  return payment.facts.status === "authorized" && openOperationOf(payment) === undefined;
}

/** When it ended, and what its key is answered with, stays as it was. */
function corrected(payment: Payment, operation: Operation, seen: GatewayStatement, step: Step): Payment {
  const { id, kind, status: recordedAs } = operation;
  const reason = "reason" in seen ? seen.reason : seen.outcome;
  const failureCode = declinedCodes[kind];
  const change: Change = {
    row: progressed(operation, {
      status: "failed",
      failureCode,
      failureReason: reason,
      askedAt: step.now,
      correctedSequence: nextSequence(payment),
    }),
    status: after(payment, "refund.corrected"),
    history: [["refund.failed", { operationId: id, failureCode, reason, recorded: recordedAs }]],
  };
  // A capture that is doubted could not be opened while refunds hung on it.
  return withPendingReview(recorded(payment, change, step), step);
}
