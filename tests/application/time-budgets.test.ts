import { assertBudgets, budgets } from "../../src/application/time-budgets";
import { builtInLockTimeouts } from "../../src/application/ports/lock-timeout";
import { leaseSettings } from "../../src/infrastructure/locking/lease/protocol/lease-settings";

describe("the built-in time budgets", () => {
  it("are in the order that the guarantees rest on", () => {
    expect(() => assertBudgets()).not.toThrow();
  });

  it.each([
    ["a caller gives up on a healthy holder", { lockWaitMs: 9_000 }],
    ["a request ends before its wait for the lock", { httpMs: 10_000 }],
    ["a lease ends under a healthy holder", { leaseMs: 9_000 }],
    ["a command is asked to end before its lease is in danger", { endingMs: 10_001 }],
  ])("are refused at the start where %s", (_, change) => {
    expect(() => assertBudgets({ ...budgets, ...change })).toThrow("out of order");
  });

  it("are what the program runs on: the wait for a payment's lock, and a lease", () => {
    expect(builtInLockTimeouts("payment").timeout).toBe(budgets.lockWaitMs);
    expect(leaseSettings().ttlMs).toBe(budgets.leaseMs);
  });
});
