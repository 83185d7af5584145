import type { Request, Response } from "express";
import { budgets } from "../../../application/operations/budgets";
import type { Caller } from "../../../application/operations/through-gateway";
import type { LockTimeoutPolicy } from "../../../application/ports/lock-timeout";
import { outcomeUnknown } from "../../../application/ports/payment-repository";
import type { Lifecycle } from "../server/lifecycle";
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

/**
 * Runs the work with a signal that fires when its caller hangs up or the service is shutting down. It ends waits only:
 * an operation that has begun goes on without its caller.
 */
async function whileCallerWaits<T>(
  response: Response,
  lifecycle: Lifecycle,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  // After a finished answer the connection closes, too; by then nobody waits on this signal.
  const onClose = () => controller.abort();
  response.once("close", onClose);
  const forget = lifecycle.onDrain(() => controller.abort());
  if (response.destroyed) controller.abort();
  try {
    return await work(controller.signal);
  } finally {
    forget();
    response.off("close", onClose);
  }
}
