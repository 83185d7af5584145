// In which order suites run. Some wait for other processes and for time to pass, for most of theirs, others work: if too many of a
// kind ran at once, the cores would be idle, or everything late.
const { availableParallelism } = require("node:os");
const { default: Sequencer } = require("@jest/test-sequencer");

const WAITING =
  /\/tests\/(contracts\/lock-|crash|processes|interfaces\/(cli|client)|infrastructure\/locking\/lease\/gcs)/;
/** Where Jest does not know yet how long suites take: a few lines that run for long. Left to the end, they would run alone. */
const HEAVY = /\/tests\/(contracts|models|simulation|support\/linearizability)\//;
const USUAL_MS = { waiting: 8_000, working: 2_000 };

module.exports = class SideBySide extends Sequencer {
  constructor(options) {
    super(options);
    this.workers = options.globalConfig.maxWorkers;
  }

  sort(tests) {
    const sorted = super.sort(tests);
    const isKnown = sorted.some(({ duration }) => duration !== undefined);
    const [waiting, working] = parted(isKnown ? sorted : parted(sorted, HEAVY).flat(), WAITING);
    return sideBySide(waiting, working, this.workers);
  }
};

/** The order in which they begin if there are always a few more that work than there are cores, as long as there are any. */
function sideBySide(waiting, working, workers) {
  const order = [];
  const atWork = availableParallelism() + 3;
  const endsAt = Array.from({ length: Math.max(workers, 1) }, () => ({ ms: 0, works: false }));
  while (waiting.length + working.length > 0) {
    const next = endsAt.reduce((first, other) => (other.ms < first.ms ? other : first));
    const nowMs = next.ms;
    const busy = endsAt.filter(({ ms, works }) => works && ms > nowMs).length;
    const works = waiting.length === 0 || (working.length > 0 && busy < atWork);
    const test = (works ? working : waiting).shift();
    Object.assign(next, { ms: nowMs + (test.duration ?? USUAL_MS[works ? "working" : "waiting"]), works });
    order.push(test);
  }
  return order;
}

function parted(tests, pattern) {
  const isMeant = ({ path }) => pattern.test(path);
  return [tests.filter(isMeant), tests.filter((test) => !isMeant(test))];
}
