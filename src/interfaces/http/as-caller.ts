import type { Request, Response } from "express";
import type { Caller } from "../../application/operations/through-gateway";
import type { LockTimeoutPolicy } from "../../application/ports/lock-timeout";
import type { Lifecycle } from "./lifecycle";
import { lockBudgetOf } from "./lock-budget";
import { callerOf, contextOf } from "./request-context";

interface Waiting {
  readonly lockTimeouts: LockTimeoutPolicy;
  readonly lifecycle: Lifecycle;
}

/** Runs what waits for a lock for the one who sent the request: as whom, for how long, and until they hang up. */
export function asCaller<T>(
  request: Request,
  response: Response,
  { lockTimeouts, lifecycle }: Waiting,
  work: (caller: Caller) => Promise<T>,
): Promise<T> {
  return whileCallerWaits(response, lifecycle, (signal) => {
    lifecycle.assertServing();
    const { merchant, keyId } = callerOf(response);
    const actor = { apiKey: keyId, requestId: contextOf(response).requestId };
    return work({ merchant, actor, signal, lockTimeout: lockBudgetOf(request, lockTimeouts) });
  });
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
