import type { ClaimedHint, NextTry } from "../ports/gateway-events/hint-store";
import type { HintLimits } from "./hint-limits";
import type { HintOutcome } from "./hint-observer";

/** When a hint that came to nothing is tried again; null if it has been for long enough. */
export function nextTry(
  { receivedAt, attempts }: Pick<ClaimedHint, "receivedAt" | "attempts">,
  outcome: Exclude<HintOutcome, "done" | "foreign">,
  now: Date,
  limits: Pick<HintLimits, "busyMs" | "busyForMs" | "retryMs" | "keptMs">,
): NextTry | null {
  const ageMs = now.getTime() - receivedAt.getTime();
  if (ageMs >= limits.keptMs) return null;
  // Whoever is at the payment will soon be done, and uses up no step.
  if (outcome === "busy" && ageMs < limits.busyForMs) return { dueAt: later(now, limits.busyMs), attempts };
  const stepMs = limits.retryMs[Math.min(attempts, limits.retryMs.length - 1)] ?? limits.keptMs;
  return { dueAt: later(now, stepMs), attempts: attempts + 1 };
}

function later(now: Date, ms: number): Date {
  return new Date(now.getTime() + ms);
}
