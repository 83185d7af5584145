// In brief, suites that work have a worker for each core, and suites that wait have the other workers: with more workers for those that
// work, each would warm up for itself what others have warm already. At full size all suites share all workers: nearly all of that
// time is the waiting suites'.
const { availableParallelism } = require("node:os");
const { default: TestRunner } = require("jest-runner");
const { waits } = require("./waiting-suites.cjs");

module.exports = class TwoPools extends TestRunner {
  pools = [];

  constructor(globalConfig, context) {
    super(globalConfig, context);
    const { maxWorkers } = globalConfig;
    const cores = availableParallelism();
    if (process.env["HOLDFAST_TEST_SIZE"] === "full" || maxWorkers <= cores) return;
    const poolOf = (workers) => new TestRunner({ ...globalConfig, maxWorkers: workers }, context);
    this.pools = [
      { runner: poolOf(cores), isIts: (test) => !waits(test) },
      { runner: poolOf(maxWorkers - cores), isIts: waits },
    ];
  }

  async runTests(tests, watcher, options) {
    if (options.serial || this.pools.length === 0) return super.runTests(tests, watcher, options);
    await Promise.all(
      this.pools.map(({ runner, isIts }) => runner.runTests(tests.filter(isIts), watcher, options)),
    );
  }

  on(event, listener) {
    const ends = [super.on(event, listener), ...this.pools.map(({ runner }) => runner.on(event, listener))];
    return () => ends.forEach((end) => end());
  }
};
