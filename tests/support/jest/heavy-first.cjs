// Where Jest does not know yet how long suites take, it begins with the largest files. Contracts, models and crash matrices are a
// few lines that run for minutes: left to the end, they would run alone.
const { default: Sequencer } = require("@jest/test-sequencer");

const HEAVY = /\/tests\/(contracts|crash|models|processes|simulation|support\/linearizability)\//;

module.exports = class HeavyFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.some(({ duration }) => duration !== undefined)) return sorted;
    const isHeavy = ({ path }) => HEAVY.test(path);
    return [...sorted.filter(isHeavy), ...sorted.filter((test) => !isHeavy(test))];
  }
};
