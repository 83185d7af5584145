import { inParallel } from "../../../../application/background/in-parallel";
import type { RequestTime } from "../../requests/request-time";

/** The items of one request, and what becomes of each. */
export interface ManyItems<Item, Result> {
  readonly items: readonly Item[];
  /**
   * Items of one lane are worked on one after the other, in their order: they would wait for the same lock, and a line of
   * them must not keep the others waiting.
   */
  readonly laneOf: (item: Item) => string;
  /** At most so many lanes at a time. */
  readonly lanes: number;
  /** `waitMs`: for how long it may wait for a lock. Must not reject. */
  readonly work: (item: Item, waitMs: number) => Promise<Result>;
  /** Of an item for which there was no time any more. */
  readonly notBegun: () => Result;
  /** Of an item that has begun, and has no outcome when the answer is due. It goes on. */
  readonly noOutcome: () => Result;
}

/** Resolves when all items have a result, in their order; at the latest when the request's answer is due. */
export async function workInLanes<Item, Result>(
  { items, laneOf, lanes, work, notBegun, noOutcome }: ManyItems<Item, Result>,
  time: RequestTime,
): Promise<readonly Result[]> {
  const begun = new Set<Item>();
  const results = new Map<Item, Result>();
  const through = async (lane: readonly Item[]): Promise<void> => {
    for (const item of lane) {
      const waitMs = time.leftToWaitMs;
      if (waitMs < 0) return;
      begun.add(item);
      results.set(item, await work(item, waitMs));
    }
  };
  const all = inParallel([...grouped(items, laneOf).values()], lanes, through);
  await time.within(all, () => {});
  return items.map((item) => results.get(item) ?? (begun.has(item) ? noOutcome() : notBegun()));
}

function grouped<Item>(items: readonly Item[], laneOf: (item: Item) => string): Map<string, Item[]> {
  const lanes = new Map<string, Item[]>();
  for (const item of items) {
    const lane = laneOf(item);
    const before = lanes.get(lane);
    if (before === undefined) lanes.set(lane, [item]);
    else before.push(item);
  }
  return lanes;
}
