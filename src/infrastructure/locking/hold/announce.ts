import { LockUnavailableError } from "../../../application/ports/lock-errors";
import type {
  LockEvent,
  LockEventFacts,
  LockHappening,
  LockObserver,
} from "../../../application/ports/lock-observer";
import type { LockHolder, LockOptions } from "../../../application/ports/lock-provider";
import type { LockSettings } from "../lock-settings";

/** One acquisition, as far as its observers need to know it. */
export interface Observed {
  readonly resourceId: string;
  readonly options: LockOptions;
  readonly settings: LockSettings;
}

interface Circumstances {
  readonly elapsedMs: number;
  readonly remainingMs?: number | undefined;
  readonly holder?: LockHolder | undefined;
  readonly failure?: unknown;
}

export function isObserved({ options, settings }: Pick<Observed, "options" | "settings">): boolean {
  return options.observer !== undefined || settings.observer !== undefined;
}

export function announce(observed: Observed, happening: LockHappening, now: Circumstances): void {
  const { resourceId, options, settings } = observed;
  const facts: LockEventFacts = {
    resourceId,
    adapter: settings.adapter,
    ...(options.scope !== undefined && { scope: options.scope }),
    ...(options.purpose !== undefined && { purpose: options.purpose }),
    elapsedMs: now.elapsedMs,
    ...(now.remainingMs !== undefined && { remainingMs: now.remainingMs }),
    ...(now.holder !== undefined && { holder: now.holder }),
    ...(now.failure !== undefined && { failure: wordsOf(now.failure) }),
  };
  const event: LockEvent = { ...facts, ...happening };
  tell(settings.observer, event);
  tell(options.observer, event);
}

export function wordsOf(failure: unknown): string {
  if (failure instanceof LockUnavailableError) return failure.reason;
  return failure instanceof Error ? failure.message : String(failure);
}

function tell(observer: LockObserver | undefined, event: LockEvent): void {
  try {
    observer?.notify(event);
  } catch {
    // An observer watches. What it throws must not decide who holds a lock.
  }
}
