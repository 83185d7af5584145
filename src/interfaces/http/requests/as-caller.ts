import type { Request, Response } from "express";
import { budgets } from "../../../application/time-budgets";
import type { Caller } from "../../../application/operations/caller";
import type { LockTimeoutPolicy } from "../../../application/ports/lock-timeout";
import { outcomeUnknown } from "../../../application/ports/payment-repository";
import type { Lifecycle } from "../server/lifecycle";
import { whileCallerWaits } from "./caller-goes";
import { lockBudgetOf } from "./lock-budget";
import { callerOf, contextOf } from "./request-context";
import { RequestTime } from "./request-time";

interface Waiting {
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}

/**
 * Runs what waits for a lock for the one who sent the request: as whom, for how long, and until they hang up. They are
 * answered in time, whatever the work waits for; once inside, it goes on without them.
 */
export function asCaller<T>(
  request: Request,
  response: Response,
  waiting: Waiting,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  return whileCallerWaits(response, waiting.lifecycle, (signal) => {
    waiting.lifecycle.assertServing();
    const lockTimeout = lockBudgetOf(request, waiting.lockTimeouts);
    const time = new RequestTime(contextOf(response).startedAtMs);
    return time.within(work({ ...callerBehind(response, signal), lockTimeout }), () => {
      throw noOutcomeInTime();
    });
  });
}

/** On whose behalf the request is, until the signal fires. */
export function callerBehind(response: Response, signal: AbortSignal): Caller {
  const { merchant, keyId, operator } = callerOf(response);
  // Marked, so that the payment's merchant is not shown whose key it was.
  const mark = operator && keyId !== null ? { operator } : {};
  const actor = { apiKey: keyId, requestId: contextOf(response).requestId, ...mark };
  return { merchant, operator, actor, signal };
}

/** Of work that has begun, and that the answer cannot wait for any longer. */
export function noOutcomeInTime(): Error {
  return outcomeUnknown(new Error(`no outcome within ${budgets.httpMs} ms`));
}
