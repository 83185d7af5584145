import type { PictureAnswer, PictureRequest } from "../../../application/ports/payment-gateway";
import type {
  GatewayPicture,
  SeenDispute,
  SeenRefund,
} from "../../../domain/payment/picture/gateway-picture";
import { isElsewhere } from "./keys-of-others";
import type {
  GatewayMove,
  GatewayTables,
  LedgerAuthorization,
  LedgerEntry,
  LedgerState,
} from "./ledgers/gateway-ledger";
import { failedLater, referenceOf } from "./move-money";
import { parsePaymentMethodToken } from "./payment-method-token";

const DAY_MS = 86_400_000;
const REVIEWED_AFTER_MS = DAY_MS;
const LOST_AFTER_MS = 7 * DAY_MS;

/** Everything in the books about one authorization, whoever wrote it there. */
export async function pictureOf(
  tables: GatewayTables,
  { paymentId, authorizationReference }: PictureRequest,
  now: Date,
): Promise<PictureAnswer> {
  const authorization = await tables.authorization(authorizationReference);
  if (authorization === null) return { outcome: "unknown", reason: "no such authorization" };
  const entries = await tables.entries(paymentId);
  const moves = await tables.moves(paymentId);
  const picture: GatewayPicture = {
    authorization: entries.some(isUndecided) ? "undecided" : stateOf(authorization),
    authorizedUntil: null,
    captured: capturedIn(authorization, entries, moves),
    cancellation: authorization.status === "voided" ? cancellationIn(authorization, entries, moves) : null,
    refunds: entries.flatMap(refundIn),
    disputes: disputesOf(authorization, moves, now),
  };
  return { outcome: "seen", picture };
}

function stateOf({ status }: LedgerAuthorization): GatewayPicture["authorization"] {
  switch (status) {
    case "awaiting_customer":
      return "undecided";
    case "voided":
      return "cancelled";
    case "gone":
      return "lapsed";
    case "open":
    case "captured":
      return status;
  }
}

/** What was taken, or let go, is not decided. */
function isUndecided({ kind, state }: LedgerEntry): boolean {
  return (kind === "capture" || kind === "void") && isPending(state);
}

function isPending({ is }: LedgerState): boolean {
  return is === "deciding" || is === "refusing";
}

/** All that was taken, by the first who took any: a second capture shows as an amount that is not the first one's. */
function capturedIn(
  { captured: amount, reference }: LedgerAuthorization,
  entries: readonly LedgerEntry[],
  moves: readonly GatewayMove[],
): GatewayPicture["captured"] {
  if (amount === 0n) return null;
  const first = moves.find(({ kind }) => kind === "capture");
  const entry = entries.find(({ gatewayKey }) => gatewayKey === first?.gatewayKey);
  const operationId = entry === undefined ? null : operationIdIn(entry);
  return { reference: referenceOf("capture", first?.gatewayKey ?? reference), amount, operationId };
}

function cancellationIn(
  { reference }: LedgerAuthorization,
  entries: readonly LedgerEntry[],
  moves: readonly GatewayMove[],
): GatewayPicture["cancellation"] {
  const move = moves.find(({ kind }) => kind === "void");
  const entry = entries.find(({ gatewayKey }) => gatewayKey === move?.gatewayKey);
  if (entry === undefined) return { reference: referenceOf("void", reference), by: "others" };
  const operationId = operationIdIn(entry);
  return {
    reference: referenceOf("void", entry.gatewayKey),
    by: operationId === null ? "others" : { operationId },
  };
}

function refundIn(entry: LedgerEntry): SeenRefund[] {
  const { kind, gatewayKey, amount, state } = entry;
  if (kind !== "refund") return [];
  const seen = {
    reference: referenceOf("refund", gatewayKey),
    amount: amount.amount,
    operationId: operationIdIn(entry),
  };
  if (isPending(state)) return [{ ...seen, state: "pending", reason: null }];
  const answer = answerIn(state);
  if (answer?.outcome === "succeeded") return [{ ...seen, state: "succeeded", reason: null }];
  // A refusal at once is kept for the key alone.
  return answer?.outcome === "declined" && answer.reason === failedLater("refund")
    ? [{ ...seen, state: "failed", reason: answer.reason }]
    : [];
}

function answerIn(state: LedgerEntry["state"]) {
  return "answer" in state ? state.answer : undefined;
}

function operationIdIn({ gatewayKey, operationId }: LedgerEntry): string | null {
  return isElsewhere(gatewayKey) ? null : operationId;
}

/** Not in the books: what becomes of it follows from the payment method and from when the money was taken. */
function disputesOf(
  { reference, paymentMethod, captured, amount }: LedgerAuthorization,
  moves: readonly GatewayMove[],
  now: Date,
): readonly SeenDispute[] {
  const disputedAfterMs = parsePaymentMethodToken(paymentMethod)?.disputedAfterMs;
  if (disputedAfterMs === undefined) return [];
  const capture = moves.find(({ kind }) => kind === "capture");
  if (capture === undefined) return [];
  const openedAt = capture.at.getTime() + disputedAfterMs;
  const ageMs = now.getTime() - openedAt;
  if (ageMs < 0) return [];
  const isLost = ageMs >= LOST_AFTER_MS;
  const dispute: SeenDispute = {
    id: `dispute_${reference}`,
    status: isLost ? "lost" : ageMs >= REVIEWED_AFTER_MS ? "under_review" : "needs_response",
    amount: captured < amount.amount ? captured : amount.amount,
    reason: "fraudulent",
    dueBy: isLost ? null : new Date(openedAt + LOST_AFTER_MS),
  };
  return [dispute];
}
