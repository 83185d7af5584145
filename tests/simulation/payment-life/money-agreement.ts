import { gatewayKey, isOpen, isRelease, type Operation } from "../../../src/domain/operation";
import type { Payment } from "../../../src/domain/payment";
import type {
  GatewayLedger,
  GatewayMove,
  LedgerState,
} from "../../../src/infrastructure/gateways/simulated/gateway-ledger";
import type { Told } from "./life-commands";

/** In which ways store, gateway and callers disagree about one payment in the end; empty if they do not. */
export async function disagreements(
  payment: Payment,
  ledger: GatewayLedger,
  told: readonly Told[],
): Promise<string[]> {
  const found: string[] = [];
  const moves = await movesOf(ledger, payment.id);
  const { operations } = payment.facts;

  const atTheGateway = moves.map(inWords).sort();
  const inTheStore = operations
    .filter((operation) => movedMoney(operation, moves))
    .map(operationInWords)
    .sort();
  if (JSON.stringify(atTheGateway) !== JSON.stringify(inTheStore)) {
    found.push(`moved at the gateway: ${atTheGateway.join(", ")}; in the store: ${inTheStore.join(", ")}`);
  }

  const sum = (kind: string) =>
    moves.filter((move) => move.kind === kind).reduce((total, { amount }) => total + amount.amount, 0n);
  if (sum("capture") > payment.facts.amount.amount) found.push(`captured ${sum("capture")}`);
  if (sum("refund") > sum("capture")) found.push(`refunded ${sum("refund")} of ${sum("capture")}`);
  if (sum("capture") > 0n && sum("void") > 0n) found.push("captured and voided");

  for (const operation of operations.filter(isOpen)) {
    if (await isAskedForEver(ledger, operation)) continue;
    found.push(`${operation.kind} ${operation.id} is ${operation.status} in the end`);
  }

  for (const { kind, key, answer, operationId } of told) {
    const own = operations.find((one) => one.kind === kind && one.idempotencyKey === key);
    const moved = own !== undefined && moves.some((move) => move.gatewayKey === gatewayKey(own));
    if (answer === "succeeded" && (!moved || own.id !== operationId)) {
      found.push(`${kind} ${key} was told as succeeded`);
    }
    if (isRefusalForGood(answer) && moved) found.push(`${kind} ${key} was told as ${answer}, and it moved`);
    if (answer === "unknown" && own?.id !== operationId) found.push(`${kind} ${key} was lost`);
  }
  return found.map((what) => `payment ${payment.id}: ${what}`);
}

export function movesOf(ledger: GatewayLedger, paymentId: string): Promise<readonly GatewayMove[]> {
  return ledger.transaction(paymentId, (tables) => tables.moves(paymentId));
}

/** A release that the gateway answers with the same error for ever goes on for ever: nobody waits for it. */
export async function isAskedForEver(ledger: GatewayLedger, operation: Operation): Promise<boolean> {
  return isRelease(operation) && (await stateOf(ledger, operation.paymentId, operation))?.is === "broken";
}

export async function stateOf(
  ledger: GatewayLedger,
  paymentId: string,
  operation: Operation,
): Promise<LedgerState | undefined> {
  const entry = await ledger.transaction(paymentId, (tables) => tables.entry(gatewayKey(operation)));
  return entry?.state;
}

/** Codes that end an operation, not ones that only say that there was none. */
function isRefusalForGood(answer: string): boolean {
  return answer.endsWith("_declined");
}

/** A release that found the money gone has let it go itself, under a former key, or had nothing left to do. */
function movedMoney(operation: Operation, moves: readonly GatewayMove[]): boolean {
  if (operation.status !== "succeeded") return false;
  const foundGone = isRelease(operation) && operation.gatewayReference === null;
  return !foundGone || moves.some((move) => move.gatewayKey.startsWith(operation.id));
}

/** By operation: a release may have gone on to another key while an earlier one was still on its way. */
function inWords({ kind, gatewayKey: key, amount }: GatewayMove): string {
  return `${kind} ${key.split(".")[0]} ${amount.amount}`;
}

function operationInWords({ kind, id, amount }: Operation): string {
  return `${kind} ${id} ${amount}`;
}
