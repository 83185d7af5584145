import { setTimeout as pause } from "node:timers/promises";
import { startedProgram } from "../support/program/built-program";
import { startOwnRedis, type OwnServer } from "../support/servers/own-redis";
import { query } from "../support/servers/postgres-locks";
import { describeWithOwn, describeWithPostgres } from "../support/servers/servers";
import { isFullStorm } from "../support/storms";
import { expectTold } from "../support/told-events";
import { temporaryDirectory } from "../support/worlds/temporary-directory";
import { expectGood } from "./histories/expect-good";
import { isLastWord, storm, type StormOptions, type StormOutcome } from "./storm";

/** `npm run storm`: 5,000 captures on 500 payments. */
const PAYMENTS = isFullStorm ? 500 : 40;
const CAPTURES_EACH = 10;
const CALLERS = 64;
/** Four at a time, all of it takes about ten seconds, which is longer than it takes to kill three instances. */
const SLOW_MS = isFullStorm ? 50 : 500;
/** Longer than a request waits for its lock, so that some must be told. */
const REDIS_STOPS_FOR_MS = 12_000;
/** Longer than a delivery is lent, so that others have taken it when it wakes up. */
const INSTANCE_STOPS_FOR_MS = 7_000;

jest.setTimeout(isFullStorm ? 900_000 : 240_000);

describeWithPostgres("three instances on one PostgreSQL, killed and started again", (server) => {
  const temporary = temporaryDirectory();

  async function run(
    locks: string,
    trouble: Pick<StormOptions, "inTheMiddle" | "killed" | "freezesForMs"> = {},
  ): Promise<StormOutcome> {
    const outcome = await storm({
      main: await startedProgram(),
      folder: temporary.path,
      store: server.url,
      locks,
      payments: PAYMENTS,
      capturesEach: CAPTURES_EACH,
      callers: CALLERS,
      slowMs: SLOW_MS,
      ...trouble,
    });
    if (isFullStorm) {
      const { tally, seconds } = outcome;
      process.stderr.write(
        `${locks.replace(/\/\/.*/, "//…")} ${seconds.toFixed(1)} s ${JSON.stringify(tally)}\n`,
      );
    }
    return outcome;
  }

  /** What holds whatever the locks are. */
  async function expectMoneyMovedOnce({ stories, accounts, history, kills }: StormOutcome): Promise<void> {
    expectGood("three instances", history, { kills });
    expect(accounts).toEqual(
      Array.from({ length: PAYMENTS }, (_, n) => ({
        status: "captured",
        captured: 1,
        amountCaptured: 1_000 + n,
        moves: ["authorize", "capture"],
      })),
    );
    for (const { answers } of stories) {
      const final = new Set(answers.filter(isLastWord).map(({ status, said }) => `${status} ${said}`));
      expect([...final]).toHaveLength(1);
    }
    const captors = stories.filter(({ answers }) => answers.some(({ status }) => status === 201));
    expect(new Set(captors.map(({ paymentId }) => paymentId)).size).toBe(PAYMENTS);
    expect(captors).toHaveLength(PAYMENTS);
    const [left] = await query<{ open: string; captures: string }>(
      server.url,
      `SELECT count(*) FILTER (WHERE status IN ('started', 'unknown', 'needs_review')) AS open,
         count(*) FILTER (WHERE kind = 'capture' AND status = 'succeeded') AS captures FROM operations`,
    );
    expect(left).toEqual({ open: "0", captures: String(PAYMENTS) });
  }

  /**
   * Each event that was committed, once and in the order of its payment, and none that was not: by the feed, and by webhooks
   * at least once.
   */
  function expectAllTold({ followed, histories, endpoints }: StormOutcome): void {
    expect(new Set(followed.map(({ id }) => id)).size).toBe(followed.length);
    expect(histories).toHaveLength(PAYMENTS);
    for (const { paymentId, lines } of histories)
      expectTold(
        followed.filter(({ data }) => data.payment.id === paymentId),
        lines,
      );
    const committed = new Set(histories.map(({ paymentId }) => paymentId));
    expect(followed.filter(({ data }) => !committed.has(data.payment.id))).toEqual([]);
    endpoints.expectDelivered(followed);
  }

  /** All codes of answers that were not a capture's last word. */
  function codes({ stories }: StormOutcome): string[] {
    const told = stories.flatMap(({ answers }) => answers).map(({ status, code }) => code ?? String(status));
    return [...new Set(told)].sort();
  }

  const ENDS = ["201", "payment_already_captured"];
  const COME_BACK = ["202", "capture_in_progress", "idempotency_key_in_use", "payment_busy"];

  it("captures each payment once with locks in PostgreSQL, each instance killed in turn, and nobody is told 5xx", async () => {
    const outcome = await run("postgres:", { killed: [0, 1, 2] });
    await expectMoneyMovedOnce(outcome);
    expectAllTold(outcome);
    // What the killed process left open is asked for at most every two seconds, and until then its callers come back.
    expect([...ENDS, ...COME_BACK]).toEqual(expect.arrayContaining(codes(outcome)));
  });

  it("captures each payment once with no locks at all, and one instance frozen: versions and keys alone", async () => {
    const outcome = await run("none:", { freezesForMs: INSTANCE_STOPS_FOR_MS });
    await expectMoneyMovedOnce(outcome);
    expectAllTold(outcome);
    expect([...ENDS, ...COME_BACK, "service_unavailable"]).toEqual(expect.arrayContaining(codes(outcome)));
  });

  describeWithOwn("redis", "with locks in a Redis of its own", () => {
    let redis: OwnServer;
    beforeEach(async () => {
      redis = await startOwnRedis();
    });
    afterEach(() => redis.stop());

    it("captures each payment once although Redis stops answering in the middle: 503, then recovery", async () => {
      const outcome = await run(redis.url, {
        inTheMiddle: async () => {
          redis.pause();
          await pause(REDIS_STOPS_FOR_MS);
          redis.continue();
        },
      });
      await expectMoneyMovedOnce(outcome);
      expectAllTold(outcome);
      const told = codes(outcome);
      expect(told).toContain("lock_unavailable");
      const outage = ["lock_unavailable", "lock_timeout", "lock_lost"];
      expect([...ENDS, ...COME_BACK, ...outage]).toEqual(expect.arrayContaining(told));
    });
  });
});
