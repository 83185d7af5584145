import type { GatewayStatement } from "../facts";
import type { Operation } from "../operation";
import type { GatewayPicture, SeenMovement } from "./gateway-picture";

/** Whether it is this operation's movement: by the id that it carries, or because a person or the gateway said so before. */
export function isMovementOf(seen: SeenMovement, { id, gatewayReference }: Operation): boolean {
  return seen.operationId === id || (gatewayReference !== null && gatewayReference === seen.reference);
}

/** A capture of ours that has not moved is not what others took under the reference that was once taken for its own. */
export function isCaptureOf(seen: SeenMovement, capture: Operation): boolean {
  const { id, status, amount, origin } = capture;
  const isRuledOut = status === "failed" && origin === "holdfast" && amount !== seen.amount;
  return isMovementOf(seen, capture) && (seen.operationId === id || !isRuledOut);
}

/** What the picture says of one operation, in the words in which the gateway answers about its key. */
export function statementOf(picture: GatewayPicture, operation: Operation): GatewayStatement {
  switch (operation.kind) {
    case "authorize":
      return {
        outcome: "unknown",
        reason: "a picture shows what became of an authorization, not who made it",
      };
    case "capture":
      return ofCapture(picture, operation);
    case "void":
      return ofVoid(picture, operation);
    case "refund":
      return ofRefund(picture, operation);
  }
}

function ofCapture(picture: GatewayPicture, operation: Operation): GatewayStatement {
  const { captured } = picture;
  if (captured !== null) {
    const shown = isCaptureOf(captured, operation) ? ofOwn(captured, operation) : takenElsewhere(captured);
    const isOther = shown.outcome === "mismatch" && captured.amount !== operation.amount;
    return isOther ? { ...shown, otherAmount: true } : shown;
  }
  switch (picture.authorization) {
    case "cancelled":
      return { outcome: "authorization_gone", reason: picture.authorization, cancelled: true };
    case "lapsed":
      return { outcome: "authorization_gone", reason: picture.authorization };
    case "undecided":
      return { outcome: "pending" };
    case "open":
    case "captured":
      return { outcome: "absent" };
  }
}

function ofVoid(
  { captured, authorization, cancellation }: GatewayPicture,
  { id }: Operation,
): GatewayStatement {
  if (captured !== null) return takenElsewhere(captured);
  switch (authorization) {
    case "cancelled": {
      // Where it names nobody, what was asked for is so.
      const by = cancellation?.by ?? "unnamed";
      const isOurs = by === "unnamed" || (by !== "others" && by.operationId === id);
      return isOurs
        ? { outcome: "succeeded", reference: cancellation?.reference ?? null }
        : { outcome: "authorization_gone", reason: "cancelled by others" };
    }
    case "lapsed":
      return { outcome: "authorization_gone", reason: "lapsed" };
    case "undecided":
      return { outcome: "pending" };
    case "open":
    case "captured":
      return { outcome: "absent" };
  }
}

function ofRefund({ refunds }: GatewayPicture, operation: Operation): GatewayStatement {
  const seen = refunds.find((refund) => isMovementOf(refund, operation));
  if (seen === undefined) return { outcome: "absent" };
  switch (seen.state) {
    case "pending":
      return { outcome: "pending" };
    case "failed":
      return { outcome: "declined", reason: seen.reason ?? "failed" };
    case "succeeded":
      return ofOwn(seen, operation);
  }
}

function ofOwn({ reference, amount }: SeenMovement, operation: Operation): GatewayStatement {
  if (amount === operation.amount) return { outcome: "succeeded", reference };
  const evidence = `${reference}: the amount is ${amount}, not ${operation.amount}`;
  return { outcome: "mismatch", evidence, reference };
}

function takenElsewhere({ reference, amount, operationId }: SeenMovement): GatewayStatement {
  const by = operationId === null ? "no operation of ours" : `operation ${operationId}`;
  return {
    outcome: "mismatch",
    evidence: `${reference}: ${amount} minor units were captured under ${by}`,
    reference,
    captured: true,
  };
}
