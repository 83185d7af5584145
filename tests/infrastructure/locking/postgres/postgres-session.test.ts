import { systemLockClock, type LockClock } from "../../../../src/infrastructure/locking/lock-clock";
import { PostgresSession } from "../../../../src/infrastructure/locking/postgres/postgres-session";
import { describeWithPostgres } from "../../../support/servers/servers";
import { tcpRelayTo, type TcpRelay } from "../../../support/servers/tcp-relay";

const LIMIT_MS = 400;

describeWithPostgres("a session with PostgreSQL", (server) => {
  let session: PostgresSession;
  beforeEach(async () => {
    session = await PostgresSession.open({
      place: server.url,
      clock: systemLockClock,
      heartbeatMs: 60_000,
      answerTimeoutMs: LIMIT_MS,
      prepare: async () => {},
    });
  });
  afterEach(() => session.end("the test is over"));

  const sleep = (seconds: number): Promise<unknown> => session.ask("SELECT pg_sleep($1)", [seconds]);

  it("a session with PostgreSQL answers questions in the order in which they were asked, each for itself", async () => {
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

  it("a session with PostgreSQL counts its patience from the last answer: a long queue is no silence", async () => {
    await Promise.all([sleep(0.2), sleep(0.2), sleep(0.2), sleep(0.2)]);
    expect(session.whyLost()).toBeNull();
  });

  it("a session with PostgreSQL is lost when the answer after another one does not come in time", async () => {
    const beganMs = performance.now();
    const quick = sleep(0.2);
    await expect(sleep(1)).rejects.toThrow();
    await quick;
    expect(session.whyLost()).toMatch(/not answered within 400 ms/);
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(200 + LIMIT_MS - 1);
    expect(performance.now() - beganMs).toBeLessThan(200 + 3 * LIMIT_MS);
  });

  it("a session with PostgreSQL is lost when a question after a quiet time has no answer, and not before its time is over", async () => {
    await sleep(0);
    await new Promise((resolve) => setTimeout(resolve, LIMIT_MS / 2));
    const beganMs = performance.now();
    await expect(sleep(1)).rejects.toThrow();
    expect(performance.now() - beganMs).toBeGreaterThanOrEqual(LIMIT_MS - 1);
    expect(session.lost.aborted).toBe(true);
  });
});

describeWithPostgres("the silence of a session with PostgreSQL", (server) => {
  const closing: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).reverse()) await close();
  });

  async function open(url: string, clock: LockClock = systemLockClock): Promise<PostgresSession> {
    const settings = {
      place: url,
      clock,
      heartbeatMs: 300,
      answerTimeoutMs: LIMIT_MS,
      prepare: async () => {},
    };
    const session = await PostgresSession.open(settings);
    closing.push(() => session.end("the test is over"));
    return session;
  }

  async function relayed(): Promise<TcpRelay> {
    const relay = await tcpRelayTo(server.url);
    closing.push(() => relay.close());
    return relay;
  }

  it("the silence of a session with PostgreSQL counts from when the last answer came, however long ago it was asked for", async () => {
    const session = await open(server.url);
    const slow = (): Promise<unknown> => session.ask("SELECT pg_sleep($1)", [0.3]);
    await Promise.all([slow(), slow(), slow(), slow()]);
    expect(session.whyLost()).toBeNull();
  });

  it("the silence of a session with PostgreSQL is not longer because somebody set the wall clock", async () => {
    let setByMs = 0;
    const clock = { ...systemLockClock, wallMs: () => Date.now() + setByMs };
    const session = await open(server.url, clock);
    setByMs = 3_600_000;
    expect(session.whyLost()).toBeNull();
    setByMs = -3_600_000;
    expect(session.whyLost()).toBeNull();
  });

  it("the silence of a session with PostgreSQL is as long as the machine slept, although the monotonic clock stood still", async () => {
    let sleptMs = 0;
    const clock = {
      ...systemLockClock,
      wallMs: () => Date.now() + sleptMs,
      asleepMs: () => sleptMs,
    };
    const session = await open(server.url, clock);
    sleptMs = 60_000;
    expect(session.whyLost()).toMatch(/slept/);
    expect(session.lost.aborted).toBe(true);
  });

  it("the silence of a session with PostgreSQL ends a session within its limit that never came to be", async () => {
    const relay = await relayed();
    relay.silence();
    const beganMs = performance.now();
    await expect(open(relay.url)).rejects.toThrow(/did not let us in within 400 ms/);
    expect(performance.now() - beganMs).toBeLessThan(LIMIT_MS + 100);
  });

  it("the silence of a session with PostgreSQL does not keep the end of a session waiting for longer than its limit", async () => {
    const relay = await relayed();
    const session = await open(relay.url);
    relay.silence();
    const beganMs = performance.now();
    await session.end("enough");
    expect(performance.now() - beganMs).toBeLessThan(LIMIT_MS + 100);
  });
});
