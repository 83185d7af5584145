import type { OperationId } from "../../domain/identifiers";
import type { GatewayStatement, ReviewVerdict } from "../../domain/payment/facts";
import type { Payment } from "../../domain/payment/payment";
import type { OperationContext } from "../operations/operation-context";
import type { AuditEntry } from "../ports/audit/audit-trail";
import { entryOf, type Act } from "./act";

/** A verdict brings its own reason: the evidence, or why it is right although the gateway says otherwise. */
export function verdictEntry(
  act: Act,
  { facts: { id: paymentId, merchant } }: Payment,
  { operationId, verdict, seen }: VerdictOn,
  context: OperationContext,
): AuditEntry {
  const { outcome, evidence, gatewayReference, overrideReason } = verdict;
  const isOverridden = (overrideReason ?? null) !== null;
  return entryOf(
    { ...act, reason: isOverridden ? (overrideReason ?? null) : evidence },
    {
      kind: isOverridden ? "review.overridden" : "review.resolved",
      subject: operationId,
      merchant,
      paymentId,
      details: { outcome, gatewayReference, evidence, gateway: seen.outcome },
    },
    context,
  );
}

interface VerdictOn {
  readonly operationId: OperationId;
  readonly verdict: ReviewVerdict;
  /** What the gateway said about the operation just now. */
  readonly seen: GatewayStatement;
}
