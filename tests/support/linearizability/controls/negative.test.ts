import { SeededRandom } from "../../../simulation/lease/seeded-random";
import type { HttpCall } from "../history/http-call";
import { size } from "../../test-size";
import { simulatedGateway } from "../payment/gateway-behaviour";
import { judge } from "../payment/judge";
import { batched } from "./batched";
import { kindsOfHistory } from "./honest-payment";
import { mutationsOf } from "./mutations-of-others";
import { randomHistory } from "./random-history";

const SEEDS = size(150, 10);
/** What is printed of a bad history has tests of its own, and takes nearly all of the time. */
const PRINTED = { inFull: size(false, true) };
/** A mistake that fits nowhere would be found everywhere. */
const LEAST_PLACES = size(20, 1);

const alone = (history: readonly HttpCall[]) => history;
const cases = [
  ...kindsOfHistory.map((kind) => ({ kind, how: "with captures that come alone", as: alone })),
  { kind: "ordinary" as const, how: "with captures in batches", as: batched },
];

describe.each(cases)("a mistake in a good $kind history is found wherever it fits, $how", ({ as, kind }) => {
  let histories: readonly (readonly HttpCall[])[];
  beforeAll(() => {
    histories = Array.from({ length: SEEDS }, (_, seed) =>
      randomHistory(new SeededRandom(seed), 30, seed, 0, kind),
    );
  });

  test.each(mutationsOf(kind))("%s", (_, mutation) => {
    let places = 0;
    for (const [seed, history] of histories.entries()) {
      const mutated = mutation(history);
      if (mutated === null) continue;
      places += 1;
      if (judge(as(mutated), simulatedGateway, PRINTED).bad.length === 0)
        throw new Error(`not found with seed ${seed}: ${JSON.stringify(mutated)}`);
    }
    expect(places).toBeGreaterThanOrEqual(LEAST_PLACES);
  });
});
