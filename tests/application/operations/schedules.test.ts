import {
  CLOCK_TOLERANCE_MS,
  FARTHEST_DUE_MS,
  isDue,
  scheduleAt,
  touchedAt,
} from "../../../src/application/operations/reconcile-schedule";
import { after, NOON } from "../../support/worlds/payments";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const times = (change: Partial<Parameters<typeof isDue>[0]> = {}) => ({
  askedAt: NOON,
  firstSentAt: NOON,
  createdAt: NOON,
  dueAt: NOON,
  ...change,
});

describe("an operation is due", () => {
  test("an operation is due from its time on, and not a millisecond before", () => {
    expect([-1, 0, 1].map((ms) => isDue(times(), after(ms)))).toEqual([false, true, true]);
    expect(isDue(times({ dueAt: null }), after(DAY))).toBe(false);
  });

  test("an operation is due where its time is farther than any schedule reaches: a clock was wrong", () => {
    expect(FARTHEST_DUE_MS).toBe(95_045_000);
    expect(isDue(times({ dueAt: after(FARTHEST_DUE_MS) }), NOON)).toBe(false);
    expect(isDue(times({ dueAt: after(FARTHEST_DUE_MS + 1) }), NOON)).toBe(true);
  });

  test("an operation is due where it was touched later than clocks may differ: a clock was wrong", () => {
    const dueAt = after(MINUTE);
    expect(isDue(times({ dueAt, askedAt: after(CLOCK_TOLERANCE_MS) }), NOON)).toBe(false);
    expect(isDue(times({ dueAt, askedAt: after(CLOCK_TOLERANCE_MS + 1) }), NOON)).toBe(true);
  });

  test("an operation was last touched when it was asked about, else when it was sent, else when it began", () => {
    const [asked, sent, begun] = [after(3), after(2), after(1)];
    const all = { askedAt: asked, firstSentAt: sent, createdAt: begun, dueAt: null };
    expect(touchedAt(all)).toBe(asked);
    expect(touchedAt({ ...all, askedAt: null })).toBe(sent);
    expect(touchedAt({ ...all, askedAt: null, firstSentAt: null })).toBe(begun);
  });
});

describe("the gateway is asked again", () => {
  const delays = (next: (attempts: number) => Date | null, upTo: number) =>
    Array.from({ length: upTo }, (_, attempts) => {
      const at = next(attempts);
      return at === null ? null : at.getTime() - NOON.getTime();
    });
  const schedule = scheduleAt(NOON, () => 0);

  test("the gateway is asked again after 5 s to 6 h about what nobody knows, and then by no schedule", () => {
    expect(delays(schedule.nextQuestion, 8)).toEqual([
      5 * SECOND,
      30 * SECOND,
      2 * MINUTE,
      10 * MINUTE,
      HOUR,
      6 * HOUR,
      null,
      null,
    ]);
  });

  test("the gateway is asked again about a release twelve times", () => {
    const all = delays(schedule.nextRelease, 14);
    expect(all.slice(4)).toEqual([HOUR, ...Array<number>(7).fill(6 * HOUR), null, null]);
  });

  test.each(["nextWhilePending", "nextInReview"] as const)(
    "the gateway is asked again daily in the end about what takes days: %s",
    (name) => {
      expect(delays(schedule[name], 6)).toEqual([5 * MINUTE, HOUR, 6 * HOUR, DAY, DAY, DAY]);
      expect(schedule[name](Number.POSITIVE_INFINITY)).toEqual(after(DAY));
    },
  );

  test("the gateway is asked again every five minutes in the end whether a customer has acted", () => {
    expect(delays(schedule.nextOfCustomer, 5)).toEqual([
      30 * SECOND,
      MINUTE,
      2 * MINUTE,
      5 * MINUTE,
      5 * MINUTE,
    ]);
    expect(schedule.customersEnd).toEqual(after(HOUR));
  });

  test("the gateway is asked again up to a tenth later, so that not all come at once", () => {
    const late = scheduleAt(NOON, () => 0.999_999);
    expect(late.nextQuestion(0)).toEqual(after(5_500));
    expect(late.nextInReview(3)).toEqual(after(Math.round(DAY * (1 + 0.1 * 0.999_999))));
    expect(late.nextRelease(99)).toBeNull();
  });

  test("the gateway has a week to decide what it has taken, or the time that it has named for all", () => {
    expect(schedule.decidesBy).toEqual(after(7 * DAY));
    expect(scheduleAt(NOON, () => 0, HOUR).decidesBy).toEqual(after(HOUR));
    expect([-1, 0].map((ms) => scheduleAt(after(ms), () => 0).isDue({ ...times() } as never))).toEqual([
      false,
      true,
    ]);
  });
});
