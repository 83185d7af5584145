// Where Jest does not know yet how long suites take, it begins with the largest files. Contracts, models and crash matrices are a
// few lines that run for long: left to the end, they would run alone.
const { default: Sequencer } = require("@jest/test-sequencer");
const { waits } = require("./waiting-suites.cjs");

const HEAVY = /\/tests\/(contracts|crash|models|processes|simulation|support\/linearizability)\//;

module.exports = class HeavyFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isKnown = sorted.some(({ duration }) => duration !== undefined);
    return takingTurns(isKnown ? sorted : parted(sorted, ({ path }) => HEAVY.test(path)).flat());
  }
};

/** One that waits, one that works, and so on: the longest ones all wait, and beside each other they would leave the cores idle. */
function takingTurns(tests) {
  const [waiting, working] = parted(tests, waits);
  const turns = Math.max(waiting.length, working.length);
  return Array.from({ length: turns }, (_, turn) => [waiting[turn], working[turn]])
    .flat()
    .filter((test) => test !== undefined);
}

function parted(tests, isMeant) {
  return [tests.filter(isMeant), tests.filter((test) => !isMeant(test))];
}
