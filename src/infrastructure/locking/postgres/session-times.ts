import { budgets } from "../../../application/time-budgets";

/** Two clocks, timers that ring late, and the way of the last answer. */
const RESERVE_MS = 1_000;
const KEEPALIVE_IDLE_S = 5;
const KEEPALIVE_INTERVAL_S = 2;

/** What follows from how long a session's holder lets the server be silent. */
export interface SessionTimes {
  /** From a holder's last answer until it knows by itself that its locks may be gone. */
  readonly silenceLimitMs: number;
  /** From a holder's last answer until others may be let in: by then, what ran under its locks has been ended. */
  readonly aloneAfterAnswerMs: number;
  /** After a silence this long the server ends the session, and others get its locks. */
  readonly serverSilenceMs: number;
  /** What makes the server notice, as it is told: begin to ask, ask again, give up. */
  readonly keepalives: { readonly idleS: number; readonly intervalS: number; readonly count: number };
}

export function sessionTimes(heartbeatMs: number, answerTimeoutMs: number): SessionTimes {
  const silenceLimitMs = heartbeatMs + answerTimeoutMs;
  const aloneAfterAnswerMs = silenceLimitMs + budgets.endingMs;
  const leastS = (aloneAfterAnswerMs + RESERVE_MS) / 1_000;
  const count = Math.max(1, Math.ceil((leastS - KEEPALIVE_IDLE_S) / KEEPALIVE_INTERVAL_S));
  return {
    silenceLimitMs,
    aloneAfterAnswerMs,
    serverSilenceMs: (KEEPALIVE_IDLE_S + KEEPALIVE_INTERVAL_S * count) * 1_000,
    keepalives: { idleS: KEEPALIVE_IDLE_S, intervalS: KEEPALIVE_INTERVAL_S, count },
  };
}
