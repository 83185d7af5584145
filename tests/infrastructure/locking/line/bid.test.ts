import { LockUnavailableError } from "../../../../src/application/ports/lock-errors";
import type { LockEvent } from "../../../../src/application/ports/lock-observer";
import type {
  Attempt,
  AttemptRequest,
  LockBackend,
  Tenure,
} from "../../../../src/infrastructure/locking/lock-backend";
import { Bid, isPermanent } from "../../../../src/infrastructure/locking/line/bid";
import { LinedLockProvider } from "../../../../src/infrastructure/locking/line/lined-lock-provider";
import { MemoryLockProvider } from "../../../../src/infrastructure/locking/memory/memory-lock-provider";
import { Gate } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

/** Answers what a test says, and writes down what it is asked. */
class Backend implements LockBackend {
  readonly adapter = "scripted";
  readonly asked: AttemptRequest[] = [];
  readonly left: string[] = [];
  answer: () => Promise<Attempt> = async () => ({ kind: "held" });

  attempt(_id: string, request: AttemptRequest): Promise<Attempt> {
    this.asked.push(request);
    return this.answer();
  }

  leave(id: string): void {
    this.left.push(id);
  }

  async close(): Promise<void> {}
}

let backend: Backend;
let bid: Bid;
beforeEach(() => {
  backend = new Backend();
  bid = new Bid(backend, "a");
});

const waiting: AttemptRequest = { mayWait: true };
const passing: AttemptRequest = { mayWait: false };

test("callers who ask during an attempt get its answer, and the next one begins when it was taken", async () => {
  const [one, other] = await Promise.all([bid.ask(waiting), bid.ask(waiting)]);
  expect([one, other, backend.asked.length]).toEqual([{ kind: "held" }, { kind: "held" }, 1]);
  bid.take(one);
  await bid.ask(passing);
  expect(backend.asked).toEqual([waiting, passing]);
});

test("an attempt that fails is an answer", async () => {
  const error = new Error("no route");
  backend.answer = () => Promise.reject(error);
  expect(await bid.ask(waiting)).toEqual({ kind: "failed", error });
  expect(isPermanent(error)).toBe(false);
  expect(isPermanent(new LockUnavailableError("a", "no bucket", { permanent: true }))).toBe(true);
  expect(isPermanent(new LockUnavailableError("a", "no route"))).toBe(false);
});

test("a bid that is withdrawn leaves the line at the backend only if it may stand there", async () => {
  await bid.withdraw();
  bid.take(await bid.ask(passing));
  await bid.withdraw();
  expect(backend.left).toEqual([]);
  bid.take(await bid.ask(waiting));
  await bid.withdraw();
  await bid.withdraw();
  expect(backend.left).toEqual(["a"]);
});

test("a bid that failed may stand in the line all the same, and one that was let in does not", async () => {
  backend.answer = () => Promise.reject(new Error("the answer was lost"));
  bid.take(await bid.ask(waiting));
  await bid.withdraw();
  expect(backend.left).toEqual(["a"]);
  backend.answer = async () => ({ kind: "acquired", tenure: { fencingToken: 1n } as unknown as Tenure });
  bid.take(await bid.ask(waiting));
  await bid.withdraw();
  expect(backend.left).toEqual(["a"]);
});

test("a lock that nobody came to take is given back, once its attempt has ended", async () => {
  const gate = new Gate();
  let released = 0;
  const tenure = {
    release: async () => {
      released += 1;
    },
  } as unknown as Tenure;
  backend.answer = async () => {
    await gate.passed;
    return { kind: "acquired", tenure };
  };
  void bid.ask(waiting);
  const withdrawn = bid.withdraw();
  let isQuiet = false;
  const quiet = bid.quiet().then(() => (isQuiet = true));
  await Promise.resolve();
  expect([released, isQuiet]).toEqual([0, false]);
  gate.open();
  await Promise.all([withdrawn, quiet]);
  expect([released, backend.left]).toEqual([1, []]);
});

test("a backend that tells of no releases is listened to all the same", () => {
  expect(() => bid.onReleased(() => {})()).not.toThrow();
});

test("who waits without a limit needs no timer, and who has one needs one", async () => {
  const clock = new VirtualLockClock();
  const locks = new MemoryLockProvider({ clock });
  const gate = new Gate();
  const holder = locks.withLock("a", () => gate.passed);
  const endless = locks.withLock("a", () => "in", { timeout: "infinite" });
  expect(clock.pendingTimers).toBe(0);
  const bounded = locks.withLock("a", () => "in", { timeout: 1_000 });
  expect(clock.pendingTimers).toBe(1);
  gate.open();
  expect(await Promise.all([holder, endless, bounded])).toEqual([undefined, "in", "in"]);
  expect(clock.pendingTimers).toBe(0);
});

test.each([
  ["failed for good", new LockUnavailableError("a", "no bucket", { permanent: true }), "unavailable"],
  ["held for too long", null, "timed_out"],
])("an observer hears how a wait ended: %s", async (_, error, type) => {
  const clock = new VirtualLockClock();
  const events: LockEvent[] = [];
  const locks = new LinedLockProvider(backend, { clock, random: () => 0.5 });
  const observer = { notify: (event: LockEvent) => void events.push(event) };
  if (error !== null) backend.answer = () => Promise.reject(error);
  const refused = expect(locks.withLock("a", () => {}, { timeout: 1_000, observer })).rejects.toThrow("a");
  await clock.advance(1_000);
  await refused;
  expect(events.at(-1)).toMatchObject({ type });
  if (error !== null) expect(events.at(-1)).toMatchObject({ reason: expect.stringContaining("no bucket") });
  await locks.close();
});
