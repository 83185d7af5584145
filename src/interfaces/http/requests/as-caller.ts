import type { Request, Response } from "express";
import { budgets } from "../../../application/time-budgets";
import type { Caller } from "../../../application/operations/caller";
import type { LockTimeoutPolicy } from "../../../application/ports/lock-timeout";
import { outcomeUnknown } from "../../../application/ports/payment-repository";
import type { Lifecycle } from "../server/lifecycle";
import { whileCallerWaits } from "./caller-goes";
import { lockBudgetOf } from "./lock-budget";
import { callerOf, contextOf } from "./request-context";

interface Waiting {
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}

/** What is left of a request's time for its answer to arrive. */
const ANSWER_MS = 500;

/**
 * Runs what waits for a lock for the one who sent the request: as whom, for how long, and until they hang up. They are
 * answered in time, whatever the work waits for; once inside, it goes on without them.
 */
export function asCaller<T>(
  request: Request,
  response: Response,
  { lockTimeouts, lifecycle }: Waiting,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  return whileCallerWaits(response, lifecycle, (signal) => {
    lifecycle.assertServing();
    const { merchant, keyId, operator } = callerOf(response);
    // Marked, so that the payment's merchant is not shown whose key it was.
    const mark = operator && keyId !== null ? { operator } : {};
    const actor = { apiKey: keyId, requestId: contextOf(response).requestId, ...mark };
    const lockTimeout = lockBudgetOf(request, lockTimeouts);
    return inTime(contextOf(response).startedAtMs, work({ merchant, operator, actor, signal, lockTimeout }));
  });
}

async function inTime<T>(startedAtMs: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(outcomeUnknown(new Error(`no outcome within ${budgets.httpMs} ms`))),
      startedAtMs + budgets.httpMs - ANSWER_MS - performance.now(),
    );
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
