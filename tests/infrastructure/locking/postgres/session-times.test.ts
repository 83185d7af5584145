import { budgets } from "../../../../src/application/time-budgets";
import type { LockHold } from "../../../../src/application/ports/lock-provider";
import { systemLockClock, type LockClock } from "../../../../src/infrastructure/locking/lock-clock";
import { PostgresLockProvider } from "../../../../src/infrastructure/locking/postgres/postgres-lock-provider";
import { PostgresSession } from "../../../../src/infrastructure/locking/postgres/postgres-session";
import { sessionTimes } from "../../../../src/infrastructure/locking/postgres/session-times";
import { describeWithPostgres } from "../../../support/servers/servers";

/** Heartbeat and limit for an answer: as built in, and some that nobody would choose. */
const SETTINGS: readonly (readonly [number, number])[] = [
  [2_000, 5_000],
  [500, 1_000],
  [1, 1],
  [3_333, 7_777],
  [60_000, 60_000],
];

describe.each(SETTINGS)("with a heartbeat every %i ms, answered within %i ms,", (heartbeatMs, answerMs) => {
  const times = sessionTimes(heartbeatMs, answerMs);

  it("a holder knows of a silence before what it runs has to be gone, by the time that a command is given", () => {
    expect(times.silenceLimitMs).toBe(heartbeatMs + answerMs);
    expect(times.aloneAfterAnswerMs - times.silenceLimitMs).toBe(budgets.endingMs);
  });

  it("the server lets others in a second later than that, and not much later", () => {
    const reserveMs = times.serverSilenceMs - times.aloneAfterAnswerMs;
    expect(reserveMs).toBeGreaterThanOrEqual(1_000);
    // It can be told whole intervals only, and asks for the first time after some seconds.
    const { idleS, intervalS, count } = times.keepalives;
    expect(reserveMs).toBeLessThan(1_000 + Math.max(idleS, intervalS) * 1_000);
    expect((idleS + intervalS * count) * 1_000).toBe(times.serverSilenceMs);
  });
});

describeWithPostgres("on a server", (server) => {
  it.each([SETTINGS[0]!, SETTINGS[3]!])(
    "a session is told the times that follow from %i and %i ms",
    async (heartbeatMs, answerTimeoutMs) => {
      const session = await PostgresSession.open({
        place: server.url,
        clock: systemLockClock,
        heartbeatMs,
        answerTimeoutMs,
        prepare: async () => {},
      });
      try {
        const { keepalives, serverSilenceMs } = sessionTimes(heartbeatMs, answerTimeoutMs);
        const [told] = await session.ask<Record<string, string>>(
          `SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_keepalives_interval') AS interval,
             current_setting('tcp_keepalives_count') AS count, current_setting('tcp_user_timeout') AS timeout`,
        );
        expect(told).toEqual({
          idle: String(keepalives.idleS),
          interval: String(keepalives.intervalS),
          count: String(keepalives.count),
          timeout: String(serverSilenceMs),
        });
      } finally {
        await session.end("the test is over");
      }
    },
  );

  it("a hold tells for how long nobody else is let in: less as the silence lasts, and nothing when it is over", async () => {
    let silentMs = 0;
    const clock: LockClock = { ...systemLockClock, monotonicMs: () => performance.now() + silentMs };
    const locks = new PostgresLockProvider(server.url, { clock });
    const { aloneAfterAnswerMs, silenceLimitMs } = sessionTimes(2_000, 5_000);
    const look = async (hold: LockHold): Promise<void> => {
      const atFirst = hold.aloneForMs();
      expect(atFirst).toBeLessThanOrEqual(aloneAfterAnswerMs);
      expect(atFirst).toBeGreaterThan(aloneAfterAnswerMs - silenceLimitMs);
      silentMs = aloneAfterAnswerMs;
      // Counted from an answer that was there before.
      expect(hold.aloneForMs()).toBeLessThanOrEqual(0);
      silentMs = 0;
    };
    await locks.withLock("a", look, { timeout: 30_000 }).finally(() => locks.close());
  });
});
