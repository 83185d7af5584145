import { gatewayKey, isRelease, type Operation } from "../../../../src/domain/payment/operation";
import type { Payment } from "../../../../src/domain/payment/payment";
import type { GatewayMove } from "../../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import type { GatewayDealings } from "./gateway-dealings";
import { isFinalRefusal, type Told } from "../life-commands";

/**
 * In which ways store, gateway and callers disagree about one payment's money in the end; empty if they do not.
 * `excused`: operations that nobody can be blamed for. `misled`: verdicts that were wrong while they were believed.
 */
export async function moneyDisagreements(
  payment: Payment,
  gateway: GatewayDealings,
  told: readonly Told[],
  excused: ReadonlySet<string>,
  misled: ReadonlySet<string>,
): Promise<string[]> {
  const found: string[] = [];
  const moves = await gateway.moves(payment.facts.id);
  // What others did is in no move of ours: it is compared with the gateway's books by itself.
  const operations = payment.facts.operations.filter(({ origin }) => origin === "holdfast");
  const byOthers = payment.facts.operations.filter(({ origin }) => origin === "gateway");
  const taken = gateway.wasTakenElsewhere(payment.facts.authorizationReference)
    ? payment.facts.amount.amount
    : 0n;
  const counted = byOthers
    .filter(({ kind, status }) => kind === "capture" && status === "succeeded")
    .reduce((sum, { amount }) => sum + amount, 0n);
  const isDoubted = payment.facts.operations.some((operation) => operation.conflicted);
  const isOurs = operations.some(({ kind, status }) => kind === "capture" && status === "succeeded");
  const isInsisted = operations.some(({ id }) => excused.has(id));
  if (gateway.drawsPictures && counted !== taken && !isDoubted && !isOurs && !isInsisted)
    found.push(`others captured ${taken}, and ${counted} is counted`);
  const isExcused = (operationId: string | undefined) =>
    operationId !== undefined && excused.has(operationId);

  const atTheGateway = moves
    .filter((move) => !isExcused(operationOf(move)))
    .map(inWords)
    .sort();
  const inTheStore = operations
    .filter((operation) => !isExcused(operation.id) && movedMoney(operation, moves))
    .map(operationInWords)
    .sort();
  if (JSON.stringify(atTheGateway) !== JSON.stringify(inTheStore)) {
    found.push(`moved at the gateway: ${atTheGateway.join(", ")}; in the store: ${inTheStore.join(", ")}`);
  }

  const sum = (kind: string) =>
    moves.filter((move) => move.kind === kind).reduce((total, { amount }) => total + amount.amount, 0n);
  const isBlameless = operations.some(({ id }) => isExcused(id));
  if (!isBlameless) {
    if (sum("capture") > payment.facts.amount.amount) found.push(`captured ${sum("capture")}`);
    if (sum("refund") > sum("capture") + taken)
      found.push(`refunded ${sum("refund")} of ${sum("capture") + taken}`);
    if (sum("capture") > 0n && sum("void") > 0n) found.push("captured and voided");
  }

  for (const { kind, key, answer, shown } of told) {
    const own = operations.find((one) => one.kind === kind && one.idempotencyKey === key);
    if (isExcused(own?.id) || (own !== undefined && gateway.wasUndone(gatewayKey(own)))) continue;
    const moved =
      own !== undefined && (isImported(own) || moves.some((move) => operationOf(move) === own.id));
    const wasSaid = (outcome: string) => own !== undefined && misled.has(verdictAbout(own.id, outcome));
    if (answer === "succeeded" && ((!moved && !wasSaid("moved")) || own?.id !== shown?.operationId)) {
      found.push(`${kind} ${key} was told as succeeded, and is ${own?.status ?? "lost"}`);
    }
    if (isFinalRefusal(answer) && moved && !wasSaid("not_moved"))
      found.push(`${kind} ${key} was told as ${answer}, and it moved`);
    if (answer === "unknown" && own?.id !== shown?.operationId) found.push(`${kind} ${key} was lost`);
  }
  return found;
}

export function verdictAbout(operationId: string, outcome: string): string {
  return `${outcome} ${operationId}`;
}

/** Made elsewhere, so that nothing of it moved under a key of ours. */
function isImported({ kind, firstSentAt }: Operation): boolean {
  return kind === "authorize" && firstSentAt === null;
}

/** A release that found the money gone has let it go itself, under a former key, or had nothing left to do. */
function movedMoney(operation: Operation, moves: readonly GatewayMove[]): boolean {
  if (operation.status !== "succeeded" || isImported(operation)) return false;
  const foundGone = isRelease(operation) && operation.gatewayReference === null;
  return !foundGone || moves.some((move) => operationOf(move) === operation.id);
}

/** By operation: a release may have gone on to another key while an earlier one was still on its way. */
function inWords(move: GatewayMove): string {
  return `${move.kind} ${operationOf(move)} ${move.amount.amount}`;
}

function operationOf({ gatewayKey: key }: GatewayMove): string | undefined {
  return key.split(".")[0];
}

function operationInWords({ kind, id, amount }: Operation): string {
  return `${kind} ${id} ${amount}`;
}
