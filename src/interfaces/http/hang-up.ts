import type { Response } from "express";
import type { Lifecycle } from "./lifecycle";

/**
 * Runs the work with a signal that fires when its caller hangs up or the service is shutting down. It ends waits only:
 * an operation that has begun goes on without its caller.
 */
export async function whileCallerWaits<T>(
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
