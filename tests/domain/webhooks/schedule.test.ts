import { DELIVERY_STEPS_MS, isDead, nextAttemptAt } from "../../../src/domain/webhooks/schedule";

const AT = new Date("2026-03-01T12:00:00.000Z");
const DAY_MS = 86_400_000;
const middle = () => 0.5;

function wait(attempts: number, random: () => number, retryAfterMs: number | null = null): number | null {
  const next = nextAttemptAt({ attempts, at: AT, retryAfterMs }, random);
  return next === null ? null : next.getTime() - AT.getTime();
}

describe("when a delivery is tried again", () => {
  it("is after 5 s, 5 min, 30 min and 2, 5, 10, 14, 20 and 24 h", () => {
    const minutes = DELIVERY_STEPS_MS.slice(1).map((_, index) => Number(wait(index + 1, middle)) / 60_000);
    expect(minutes).toEqual([5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440]);
  });

  it("is over after 75 hours, 35 minutes and 5 seconds, if nothing is spread", () => {
    const all = DELIVERY_STEPS_MS.slice(1).reduce(
      (sum, _, index) => sum + Number(wait(index + 1, middle)),
      0,
    );
    expect(all / 1_000).toBe(75 * 3_600 + 35 * 60 + 5);
  });

  it("is never after the tenth attempt", () => {
    expect(wait(10, middle)).toBeNull();
    expect(wait(11, middle)).toBeNull();
  });

  it("is spread by a fifth to both sides", () => {
    expect(wait(2, () => 0)).toBe(240_000);
    expect(wait(2, () => 1)).toBe(360_000);
  });

  it("is as late as the receiver asks, up to twice the step", () => {
    expect(wait(2, middle, 500_000)).toBe(500_000);
    expect(wait(2, middle, 600_001)).toBe(600_000);
    expect(wait(2, middle, 365 * DAY_MS)).toBe(600_000);
  });

  it("is not earlier because the receiver asks for less", () => {
    expect(wait(2, middle, 1)).toBe(300_000);
  });

  it("ends for an endpoint that has failed for five days, and not a moment before", () => {
    expect(isDead(AT, new Date(AT.getTime() + 5 * DAY_MS - 1))).toBe(false);
    expect(isDead(AT, new Date(AT.getTime() + 5 * DAY_MS))).toBe(true);
  });
});
