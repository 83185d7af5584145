import type { Response } from "express";
import type { Lifecycle } from "../server/lifecycle";

/** A signal that fires when the caller hangs up or the service begins to drain. */
export function untilCallerGoes(
  response: Response,
  lifecycle: Lifecycle,
): { readonly signal: AbortSignal; readonly forget: () => void } {
  const controller = new AbortController();
  // After a finished answer the connection closes, too; by then nobody waits on this signal.
  const onClose = () => controller.abort();
  response.once("close", onClose);
  const forgetDrain = lifecycle.onDrain(() => controller.abort());
  if (response.destroyed) controller.abort();
  return {
    signal: controller.signal,
    forget: () => {
      forgetDrain();
      response.off("close", onClose);
    },
  };
}

/**
 * Runs the work with a signal that fires when its caller hangs up or the service is shutting down. It ends waits only:
 * an operation that has begun goes on without its caller.
 */
export async function whileCallerWaits<T>(
  response: Response,
  lifecycle: Lifecycle,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { signal, forget } = untilCallerGoes(response, lifecycle);
  try {
    return await work(signal);
  } finally {
    forget();
  }
}
