// Where Jest does not know yet how long suites take, it begins with the largest files. Contracts, models and crash matrices are a
// few lines that run for minutes: left to the end, they would run alone.
const { default: Sequencer } = require("@jest/test-sequencer");

const HEAVY = /\/tests\/(contracts|crash|models|processes|simulation|support\/linearizability)\//;
/** They wait for other processes and for time to pass, for most of theirs. */
const WAITING = /\/tests\/(contracts|crash|processes|interfaces\/cli)\//;

module.exports = class HeavyFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    const isKnown = sorted.some(({ duration }) => duration !== undefined);
    return takingTurns(isKnown ? sorted : parted(sorted, HEAVY).flat(), WAITING);
  }
};

/** One that waits, one that works, and so on: the longest ones all wait, and beside each other they would leave the cores idle. */
function takingTurns(tests, pattern) {
  const [waiting, working] = parted(tests, pattern);
  const turns = Math.max(waiting.length, working.length);
  return Array.from({ length: turns }, (_, turn) => [waiting[turn], working[turn]])
    .flat()
    .filter((test) => test !== undefined);
}

function parted(tests, pattern) {
  const isMeant = ({ path }) => pattern.test(path);
  return [tests.filter(isMeant), tests.filter((test) => !isMeant(test))];
}
