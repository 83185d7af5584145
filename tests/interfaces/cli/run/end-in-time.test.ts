import { endInTime } from "../../../../src/interfaces/cli/run/end-in-time";

const ENDING_MS = 5_000;

/** A command that notes when it was sent what, on time that the test moves. */
let sent: [string, number][];
let said: string[];
let losing: AbortController;
let aloneUntilMs: number;

beforeEach(() => {
  jest.useFakeTimers({ now: 0 });
  [sent, said, losing, aloneUntilMs] = [[], [], new AbortController(), Infinity];
});
afterEach(() => jest.useRealTimers());

function begin(onLost: "kill" | "continue" = "kill") {
  const command = { kill: (signal: string | 0) => sent.push([String(signal), Date.now()]) > 0 };
  const hold = { signal: losing.signal, aloneForMs: () => aloneUntilMs - Date.now() };
  return endInTime(command, { hold, onLost, endingMs: ENDING_MS, say: (line) => said.push(line) });
}

const pass = (ms: number): void => void jest.advanceTimersByTime(ms);

test("a lock that ends only with its process lets the command run", () => {
  const ending = begin();
  pass(3_600_000);
  expect(sent).toEqual([]);
  expect(ending.isAsked).toBe(false);
});

test("a command is asked as long before the end as it is given to end, and killed at the end and not later", () => {
  aloneUntilMs = 30_000;
  const ending = begin();
  pass(60_000);
  expect(sent).toEqual([
    ["SIGTERM", 25_000],
    ["SIGKILL", 30_000],
  ]);
  expect(said).toEqual([
    expect.stringMatching(/^the lock cannot be renewed: .* in 5 s; ending the command$/),
  ]);
  expect(ending.isAsked).toBe(true);
});

test("each sign of life moves the end, but nobody is forgiven who was asked", () => {
  aloneUntilMs = 30_000;
  begin();
  pass(10_000);
  aloneUntilMs = 40_000;
  pass(24_999);
  expect(sent).toEqual([]);
  pass(1);
  aloneUntilMs = 1_000_000;
  pass(10_000);
  expect(sent).toEqual([
    ["SIGTERM", 35_000],
    ["SIGKILL", 40_000],
  ]);
});

test("a loss without warning leaves the command its time, where nobody knows who is inside", () => {
  begin();
  pass(1_000);
  losing.abort("its file was removed");
  pass(60_000);
  expect(sent).toEqual([
    ["SIGTERM", 1_000],
    ["SIGKILL", 6_000],
  ]);
});

test("a loss that is noticed when others may be in already leaves the command none", () => {
  aloneUntilMs = 30_000;
  begin();
  jest.setSystemTime(31_000);
  losing.abort("this process was stopped");
  pass(0);
  expect(sent).toEqual([
    ["SIGTERM", 31_000],
    ["SIGKILL", 31_000],
  ]);
});

test("a loss in the time that the command was given does not begin it anew", () => {
  aloneUntilMs = 30_000;
  begin();
  pass(27_000);
  losing.abort("the lease has ended");
  pass(60_000);
  expect(sent).toEqual([
    ["SIGTERM", 25_000],
    ["SIGKILL", 30_000],
  ]);
});

test("with --on-lost continue nobody is asked, and a loss is said", () => {
  aloneUntilMs = 30_000;
  begin("continue");
  pass(31_000);
  losing.abort("the lease has ended");
  pass(60_000);
  expect(sent).toEqual([]);
  expect(said).toEqual(["the lock is lost (the lease has ended); the command continues without it"]);
});

test("nothing is sent to a command that has ended", () => {
  aloneUntilMs = 30_000;
  const ending = begin();
  pass(26_000);
  ending.stop();
  losing.abort("the lease has ended");
  pass(60_000);
  expect(sent).toEqual([["SIGTERM", 25_000]]);
});
