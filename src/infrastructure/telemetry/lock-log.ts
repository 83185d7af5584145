import type { LockEvent, LockEventType, LockObserver } from "../../application/ports/lock-observer";

export type LockLogLevel = "warn" | "info" | "debug" | "trace";

/** As much of a structured logger as is needed here; pino is one. */
export type LockLogger = {
  readonly [level in LockLogLevel]: (facts: object, message: string) => void;
} & {
  /** Asked first: most of what happens to locks is not logged. */
  isLevelEnabled(level: LockLogLevel): boolean;
};

/** A lock that works needs no attention: what costs money or sleep comes first. */
const LEVELS: Record<LockEventType, LockLogLevel> = {
  lost: "warn",
  unavailable: "warn",
  timed_out: "info",
  handoff_requested: "info",
  wait_started: "debug",
  cancelled: "debug",
  acquired: "debug",
  kept: "debug",
  released: "debug",
  progressed: "debug",
  renewed: "trace",
  retried: "trace",
};

/** Writes what happens to locks as structured lines. */
export function lockLog(logger: LockLogger): LockObserver {
  return {
    notify: (event) => {
      const level = LEVELS[event.type];
      if (logger.isLevelEnabled(level))
        logger[level](factsOf(event), `lock ${event.type.replaceAll("_", " ")}`);
    },
  };
}

/** JSON has no bigint, and fractions of a millisecond are of no use. */
function factsOf({ type: event, ...facts }: LockEvent): object {
  return {
    event,
    ...facts,
    elapsedMs: Math.round(facts.elapsedMs),
    ...(facts.remainingMs !== undefined && { remainingMs: Math.round(facts.remainingMs) }),
    ...("forMs" in facts && { forMs: Math.round(facts.forMs) }),
    ...("fencingToken" in facts && { fencingToken: String(facts.fencingToken) }),
  };
}
