import { systemLockClock } from "../../../../src/infrastructure/locking/lock-clock";
import { PostgresSession } from "../../../../src/infrastructure/locking/postgres/postgres-session";
import { describeWithPostgres } from "../../../support/servers";

const LIMIT_MS = 400;

describeWithPostgres("a session with PostgreSQL", (server) => {
  let session: PostgresSession;
  beforeEach(async () => {
    session = await PostgresSession.open({
      url: server.url,
      clock: systemLockClock,
      heartbeatMs: 60_000,
      answerTimeoutMs: LIMIT_MS,
      prepare: async () => {},
    });
  });
  afterEach(() => session.end("the test is over"));

  const sleep = (seconds: number): Promise<unknown> => session.ask("SELECT pg_sleep($1)", [seconds]);

  it("answers questions in the order in which they were asked, each for itself", async () => {
    const answered: string[] = [];
    const questions = [
      session.ask("SELECT pg_sleep(0.05)").then(() => answered.push("slow")),
      session.ask("SELECT 1 / $1::int", [0]).catch(() => answered.push("refused")),
      session.ask("SELECT 1").then(() => answered.push("quick")),
    ];
    await Promise.all(questions);
    expect(answered).toEqual(["slow", "refused", "quick"]);
    expect(session.whyLost()).toBeNull();
  });

  it("counts its patience from the last answer: a long queue is no silence", async () => {
    await Promise.all([sleep(0.2), sleep(0.2), sleep(0.2), sleep(0.2)]);
    expect(session.whyLost()).toBeNull();
  });

  it("is lost when the answer after another one does not come in time", async () => {
    const beganMs = performance.now();
    const quick = sleep(0.2);
    await expect(sleep(1)).rejects.toThrow();
    await quick;
    expect(session.whyLost()).toMatch(/not answered within 400 ms/);
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(200 + LIMIT_MS - 1);
    expect(performance.now() - beganMs).toBeLessThan(200 + 3 * LIMIT_MS);
  });

  it("is lost when a question after a quiet time has no answer, and not before its time is over", async () => {
    await sleep(0);
    await new Promise((resolve) => setTimeout(resolve, LIMIT_MS / 2));
    const beganMs = performance.now();
    await expect(sleep(1)).rejects.toThrow();
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(LIMIT_MS - 1);
    expect(session.lost.aborted).toBe(true);
  });
});
