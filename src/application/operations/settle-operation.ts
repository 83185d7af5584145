import type { OperationId, PaymentId } from "../../domain/identifiers";
import type { EventData } from "../../domain/payment/events";
import type { GatewayVerdict, SettledAnswer } from "../../domain/payment/facts";
import { operationOf, type Payment } from "../../domain/payment/payment";
import { applyVerdict, unappliable } from "../../domain/payment/settlement";
import {
  DuplicateAuthorizationError,
  StoreUnavailableError,
  VersionConflictError,
  type StoredPayment,
} from "../ports/payment-repository";
import { budgets } from "../time-budgets";
import { inTime } from "../in-time";
import { stepNow, type OperationContext } from "./operation-context";

/** What was found out about an operation. */
export interface Finding {
  readonly operationId: OperationId;
  readonly verdict: GatewayVerdict;
  readonly trace: EventData;
}

/** Waits between tries when the store fails; together well inside the budget for saves. */
const STORE_RETRY_MS: readonly number[] = [50, 100, 200, 400];
/** Each round means that the payment has been written meanwhile; that does not go on for long. */
const MAX_ROUNDS = 20;

/**
 * SETTLE: writes down what became of an operation. It may have been settled meanwhile: the answer is then applied to the
 * operation as it is *now*. An answer that cannot be applied, or that the store's guards refuse, goes before a person.
 * Returns what is stored; null when the store kept failing, or took too long (the operation stays as it was, and due,
 * unless a try that is not waited for any more succeeds).
 */
export function settleOperation(
  context: OperationContext,
  read: StoredPayment,
  finding: Finding,
): Promise<StoredPayment | null> {
  const tooLate = new AbortController();
  // A try that is under way goes on, and what it writes is true; no caller waits for it any more.
  return inTime(budgets.savesMs, keepTrying(context, read, finding, tooLate.signal), () => {
    tooLate.abort();
    return null;
  });
}

/** One try to write the finding down, and what the tries before it have shown. */
interface Attempt {
  /** Null: to be read anew. */
  readonly stored: StoredPayment | null;
  readonly verdict: GatewayVerdict;
  /** Why the gateway's answer cannot be written down as it is: a person has to see it. Null as long as it can. */
  readonly obstacle: string | null;
  /** The version at which the store refused the last write. */
  readonly refusedAt: number | null;
  /** What is left of the waits for a store that fails. */
  readonly waitsMs: readonly number[];
}

async function keepTrying(
  context: OperationContext,
  read: StoredPayment,
  finding: Finding,
  tooLate: AbortSignal,
): Promise<StoredPayment | null> {
  const { verdict } = finding;
  let attempt: Attempt = {
    stored: read,
    verdict,
    obstacle: null,
    refusedAt: null,
    waitsMs: STORE_RETRY_MS,
  };
  for (let round = 0; round < MAX_ROUNDS && !tooLate.aborted; round += 1) {
    const tried = await tryOnce(context, read, finding, attempt);
    if (tried.follows === "done") return tried.stored;
    const next = await afterFailure(context, attempt, tried);
    if (next === null) return null;
    attempt = next;
  }
  return null;
}

type Tried =
  | { readonly follows: "done"; readonly stored: StoredPayment }
  | { readonly follows: "another try"; readonly error: unknown; readonly version: number | null };

/** Reads, if it has to be read anew; applies; writes, if anything has changed. */
async function tryOnce(
  context: OperationContext,
  read: StoredPayment,
  finding: Finding,
  attempt: Attempt,
): Promise<Tried> {
  let { stored } = attempt;
  try {
    stored ??= await readAgain(context, read.payment.facts.id);
    if (isAboutFormerKey(read, stored, finding.operationId, attempt.verdict))
      return { follows: "done", stored };
    const next = applied(context, stored.payment, finding, attempt);
    if (next === stored.payment) return { follows: "done", stored };
    return { follows: "done", stored: await context.payments.save(next, stored.version) };
  } catch (error) {
    return { follows: "another try", error, version: stored?.version ?? null };
  }
}

function applied(
  context: OperationContext,
  payment: Payment,
  { operationId, trace }: Finding,
  { verdict, obstacle }: Attempt,
): Payment {
  const step = stepNow(context, trace);
  return obstacle !== null && isAnswer(verdict)
    ? unappliable(payment, operationId, { answer: verdict, why: obstacle }, step)
    : applyVerdict(payment, operationId, verdict, step);
}

/** What the failure teaches the next try; null if there is none. Throws what no further try would change. */
async function afterFailure(
  context: OperationContext,
  attempt: Attempt,
  { error, version }: Extract<Tried, { follows: "another try" }>,
): Promise<Attempt | null> {
  const anew: Attempt = { ...attempt, stored: null };
  if (error instanceof StoreUnavailableError) {
    const [waitMs, ...waitsMs] = attempt.waitsMs;
    if (waitMs === undefined) return null;
    await context.sleep(waitMs);
    return { ...anew, waitsMs };
  }
  if (error instanceof DuplicateAuthorizationError) {
    // Two payments with one authorization would capture its money twice.
    return { ...anew, verdict: { outcome: "mismatch", evidence: error.message } };
  }
  if (error instanceof VersionConflictError) {
    // Twice at one version: it has not been written meanwhile, so it is what is written that the store refuses.
    const isRefused = version !== null && version === attempt.refusedAt;
    const obstacle = isRefused ? "with it, the payment's totals could not be true" : attempt.obstacle;
    return { ...anew, obstacle, refusedAt: version };
  }
  if (attempt.obstacle !== null || !isAnswer(attempt.verdict)) throw error;
  return { ...anew, obstacle: error instanceof Error ? error.message : String(error) };
}

function isAnswer(verdict: GatewayVerdict): verdict is SettledAnswer {
  const { outcome } = verdict;
  return outcome === "succeeded" || outcome === "declined" || outcome === "authorization_gone";
}

/** A release has gone on to its next key meanwhile: that its former one was refused is known. */
function isAboutFormerKey(
  read: StoredPayment,
  stored: StoredPayment,
  operationId: OperationId,
  verdict: GatewayVerdict,
): boolean {
  const asked = operationOf(read.payment, operationId);
  return verdict.outcome !== "succeeded" && asked?.n !== operationOf(stored.payment, operationId)?.n;
}

async function readAgain({ payments }: OperationContext, id: PaymentId): Promise<StoredPayment> {
  const stored = await payments.find(id);
  if (stored === null) throw new Error(`payment ${id} is gone from the store`);
  return stored;
}
