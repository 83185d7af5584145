import { budgets, longestHoldMs } from "../../../../src/application/time-budgets";
import { workInLanes } from "../../../../src/interfaces/http/endpoints/captures/work-in-lanes";
import { RequestTime } from "../../../../src/interfaces/http/requests/request-time";
import { Gate, settled } from "../../../support/fakes/gate";
import { VirtualLockClock } from "../../../support/fakes/virtual-lock-clock";

let clock: VirtualLockClock;
let begun: string[];
beforeEach(() => {
  clock = new VirtualLockClock();
  begun = [];
});

/** Items are named as their lane and a number: `a1`. */
function work(items: readonly string[], work: (item: string, waitMs: number) => Promise<string>, lanes = 2) {
  const time = new RequestTime(0, {
    nowMs: () => clock.monotonicMs(),
    after: (ms, then) => clock.after(ms, then),
  });
  return workInLanes(
    {
      items,
      laneOf: (item) => item.slice(0, 1),
      lanes,
      work: (item, waitMs) => {
        begun.push(item);
        return work(item, waitMs);
      },
      notBegun: () => "not begun",
      noOutcome: () => "no outcome",
    },
    time,
  );
}

test("results are in the order of the items, whichever ends first", async () => {
  const gate = new Gate();
  const results = work(["a1", "b1", "c1"], async (item) => {
    if (item === "a1") await gate.passed;
    return `${item} done`;
  });
  await settled();
  expect(begun).toEqual(["a1", "b1", "c1"]);
  gate.open();
  expect(await results).toEqual(["a1 done", "b1 done", "c1 done"]);
});

test("items of one lane are worked on one after the other, and do not keep other lanes waiting", async () => {
  const gate = new Gate();
  const results = work(["a1", "a2", "a3", "b1", "c1", "d1"], async (item) => {
    if (item === "a1") await gate.passed;
    return item;
  });
  await settled();
  expect(begun).toEqual(["a1", "b1", "c1", "d1"]);
  gate.open();
  await results;
  expect(begun).toEqual(["a1", "b1", "c1", "d1", "a2", "a3"]);
});

test("no more lanes than allowed are worked on at a time", async () => {
  const gate = new Gate();
  const results = work(["a1", "b1", "c1"], async () => {
    await gate.passed;
    return "done";
  });
  await settled();
  expect(begun).toEqual(["a1", "b1"]);
  gate.open();
  await results;
});

test("an item for which there is no time any more does not begin, and is told so", async () => {
  const lastMs = budgets.httpMs - longestHoldMs;
  const results = work(
    ["a1", "a2"],
    async (item) => {
      await new Promise<void>((resolve) => clock.after(lastMs, resolve));
      return `${item} done`;
    },
    1,
  );
  await clock.advance(lastMs);
  expect(await results).toEqual(["a1 done", "not begun"]);
  expect(begun).toEqual(["a1"]);
});

test("an item is told how long it may wait, which is less the later it begins", async () => {
  const waits: number[] = [];
  const results = work(["a1", "a2"], async (_item, waitMs) => {
    waits.push(waitMs);
    await new Promise<void>((resolve) => clock.after(5_000, resolve));
    return "done";
  });
  await clock.advance(10_000);
  await results;
  expect(waits).toEqual([20_500, 15_500]);
});

test("when the answer is due, what has begun has no outcome, the rest has not begun, and nothing else begins", async () => {
  const gate = new Gate();
  const results = work(["a1", "a2", "b1"], async (item) => {
    if (item === "a1") await gate.passed;
    return `${item} done`;
  });
  await clock.advance(budgets.httpMs - 500);
  expect(await results).toEqual(["no outcome", "not begun", "b1 done"]);
  gate.open();
  await settled();
  expect(begun).toEqual(["a1", "b1"]);
  expect(clock.pendingTimers).toBe(0);
});
