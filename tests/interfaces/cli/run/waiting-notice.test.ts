import { MemoryLockProvider } from "../../../../src/infrastructure/locking/memory/memory-lock-provider";
import { WaitingNotice } from "../../../../src/interfaces/cli/run/waiting-notice";
import { Gate } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

const ERASE = "\r\x1b[2K";

/** Two callers and one lock, on virtual time: the second waits, and a person is told about it. */
class WatchedWait {
  readonly clock = new VirtualLockClock();
  readonly written: string[] = [];
  private readonly locks = new MemoryLockProvider({ clock: this.clock, random: () => 1 });
  private readonly inside = new Gate();

  constructor(
    public columns: number,
    private readonly id = "task:nightly",
  ) {}

  /** Resolves when the second caller is in line. */
  async begin(purpose = "deploy", timeoutMs: number | "infinite" = 18_000): Promise<void> {
    const notice = new WaitingNotice({
      write: (text) => this.written.push(text),
      note: (text) => this.written.push(`${text}\n`),
      columns: () => this.columns,
      nowMs: () => this.clock.monotonicMs(),
      wallMs: () => this.clock.wallMs(),
      after: (ms, callback) => this.clock.after(ms, callback),
    });
    void this.locks.withLock(this.id, () => this.inside.passed, { purpose });
    await this.clock.advance(0);
    void this.locks
      .withLock(this.id, async () => {}, { timeout: timeoutMs, observer: notice })
      .catch(() => undefined);
    await this.clock.advance(0);
  }

  async after(ms: number): Promise<string[]> {
    await this.clock.advance(ms);
    return this.written.splice(0);
  }

  async letIn(): Promise<string[]> {
    this.inside.open();
    return this.after(0);
  }
}

describe("on a terminal", () => {
  test("nothing is told before 400 ms, and then one line that is written over once a second", async () => {
    const wait = new WatchedWait(100);
    await wait.begin();
    expect(await wait.after(399)).toEqual([]);
    expect(await wait.after(1)).toEqual([
      `${ERASE}waiting for task:nightly, held by another caller for 0 s (deploy); 18 s left, Ctrl-C to stop`,
    ]);
    expect(await wait.after(600)).toEqual([
      `${ERASE}waiting for task:nightly, held by another caller for 1 s (deploy); 17 s left, Ctrl-C to stop`,
    ]);
    expect(await wait.after(2_000)).toHaveLength(2);
  });

  test("the line is erased when the wait is over, whichever way, and nothing comes after it", async () => {
    const lucky = new WatchedWait(100);
    await lucky.begin();
    await lucky.after(1_500);
    expect(await lucky.letIn()).toEqual([ERASE]);
    expect(await lucky.after(60_000)).toEqual([]);

    const unlucky = new WatchedWait(100);
    await unlucky.begin("deploy", 1_000);
    expect((await unlucky.after(60_000)).at(-1)).toBe(ERASE);
    expect(unlucky.clock.pendingTimers).toBe(0);
  });

  test("a wait that is over before 400 ms leaves no trace", async () => {
    const wait = new WatchedWait(100);
    await wait.begin();
    expect(await wait.letIn()).toEqual([]);
    expect(await wait.after(10_000)).toEqual([]);
    expect(wait.clock.pendingTimers).toBe(0);
  });

  test("the line never reaches the last column, where it would wrap; a wide character takes two", async () => {
    const narrow = new WatchedWait(20);
    await narrow.begin();
    expect(await narrow.after(400)).toEqual([`${ERASE}waiting for task:ni`]);
    const wide = new WatchedWait(20, "夜間処理");
    await wide.begin();
    expect(await wide.after(400)).toEqual([`${ERASE}waiting for 夜間処`]);
  });

  test("what others call themselves cannot move the cursor or begin a new line", async () => {
    const wait = new WatchedWait(200);
    await wait.begin("a\nb\x1b[2Jc\x9b1A");
    const [told] = await wait.after(400);
    expect(told!.slice(ERASE.length)).not.toMatch(/\p{Cc}/u);
    expect(told).toContain("(a b [2Jc 1A)");
  });
});

test("a service that fails is told in its own words, and not as somebody who holds the lock", () => {
  const written: string[] = [];
  const notice = new WaitingNotice({
    write: (text) => written.push(text),
    note: (text) => written.push(`${text}\n`),
    columns: () => 0,
    nowMs: () => 0,
    wallMs: () => 0,
    after: (_, callback) => {
      callback();
      return () => {};
    },
  });
  const failure = "PostgreSQL does not answer: connection refused";
  notice.notify({ type: "wait_started", resourceId: "task:a", adapter: "postgres", elapsedMs: 0, failure });
  expect(written).toEqual([`waiting for task:a, ${failure}; no limit, Ctrl-C to stop\n`]);
});

describe("elsewhere, and on a terminal that has no columns", () => {
  test("a plain line at the start and some ten seconds, and none at the end", async () => {
    const wait = new WatchedWait(0);
    await wait.begin("deploy", "infinite");
    expect(await wait.after(399)).toEqual([]);
    expect(await wait.after(1)).toEqual([
      "waiting for task:nightly, held by another caller for 0 s (deploy); no limit, Ctrl-C to stop\n",
    ]);
    expect(await wait.after(9_999)).toEqual([]);
    // The news of a wait come with its attempts, which are up to 4 s apart.
    expect(await wait.after(4_001)).toHaveLength(1);
    expect((await wait.after(42_000)).length).toBeGreaterThanOrEqual(3);
    expect(await wait.letIn()).toEqual([]);
  });

  test("also if the columns go away while somebody waits", async () => {
    const wait = new WatchedWait(100);
    await wait.begin();
    await wait.after(400);
    wait.columns = 0;
    const [told] = await wait.after(1_000);
    expect(told).toMatch(/^waiting .*\n$/);
  });
});
