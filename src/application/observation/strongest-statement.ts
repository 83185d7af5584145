import type { GatewayStatement } from "../../domain/payment/facts";
import type { Operation } from "../../domain/payment/operation";
import type { GatewayPicture } from "../../domain/payment/picture/gateway-picture";
import { statementOf } from "../../domain/payment/picture/statement-of";
import { isRecorded } from "../operations/ask-in-review";
import type { FindAnswer } from "../ports/payment-gateway";

/** What the gateway keeps for the operation's own key; where that decides nothing, what its picture shows of it. */
export function strongest(
  found: FindAnswer,
  picture: GatewayPicture | null,
  operation: Operation,
): GatewayStatement {
  if (picture === null || isRecorded(found) || found.outcome === "pending") return found;
  const shown = statementOf(picture, operation);
  const decides = shown.outcome !== "absent" && shown.outcome !== "unknown";
  return decides && !(found.outcome === "mismatch" && shown.outcome === "pending") ? shown : found;
}
