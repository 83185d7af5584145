"use strict";
const { default: TestRunner } = require("jest-runner");

/**
 * Runs the tests of one mutant after the other in the process of one `jest -i`, which is told by messages what to run. The
 * program is loaded anew for each test file, packages are not: see ADR 0118 and 0124.
 */
class MutantsRunner {
  supportsEventEmitters = true;
  isSerial = true;

  constructor(globalConfig, context) {
    this.runner = new TestRunner(globalConfig, context);
    this.failed = false;
    this.runner.on("test-file-failure", () => {
      this.failed = true;
    });
    this.runner.on("test-file-success", ([, result]) => {
      this.failed ||= result.testExecError != null || result.numFailingTests > 0;
    });
  }

  /** Nobody reports: the parent does. */
  on() {
    return () => {};
  }

  async runTests(tests, watcher) {
    const files = new Map(tests.map((test) => [test.path, test]));
    const setImmediate = globalThis.setImmediate;
    globalThis.holdfastMutants = new Mutants();
    const orders = [];
    let wake = () => {};
    process.on("message", (order) => {
      orders.push(order);
      wake();
    });
    process.on("disconnect", () => process.exit());
    // A mutant may leave something that throws later; whether it spoils other tests is found out by the parent's controls.
    process.on("uncaughtException", () => {});
    process.on("unhandledRejection", () => {});
    process.send({ ready: true });
    for (;;) {
      while (orders.length === 0) await new Promise((resolve) => (wake = resolve));
      process.send(await this.follow(orders.shift(), files, watcher));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Stops at the first file with a test that fails. */
  async follow({ mutant, runs, records }, files, watcher) {
    for (const { file, tests, limitMs } of runs) {
      const mutants = globalThis.holdfastMutants;
      mutants.begin({ mutant, tests, limitMs, records });
      process.send({ begins: file });
      const begun = performance.now();
      this.failed = false;
      await this.runner.runTests([files.get(file)], watcher, { serial: true });
      const ms = performance.now() - begun;
      const { recorded, failedTest, tookMs, skipped } = mutants.end();
      if (records) return { recorded, tookMs, skipped, failedTest, failed: this.failed, ms };
      if (this.failed || failedTest) return { killedBy: file, test: failedTest, slow: mutants.tooSlow };
    }
    return {};
  }
}

/** What the switches in the program ask, and where the environment tells which test runs. */
class Mutants {
  on = 0;
  /** The program's modules as they are without any mutant; undefined while each test file gets its own. */
  kept = undefined;
  clean = new Map();

  begin({ mutant, tests, limitMs, records }) {
    Object.assign(this, {
      on: mutant,
      limitMs,
      index: -1,
      current: -1,
      failedTest: undefined,
      tooSlow: false,
    });
    this.kept = tests === undefined ? undefined : this.clean;
    this.chosen = tests && new Set(tests);
    this.recorded = records ? new Map() : undefined;
    this.tookMs = [];
    this.skipped = [];
  }

  end() {
    this.on = 0;
    const recorded = this.recorded && [...this.recorded].map(([id, tests]) => [id, [...tests]]);
    this.recorded = undefined;
    const { failedTest, tookMs, skipped } = this;
    return { recorded, failedTest, tookMs, skipped };
  }

  asks(id) {
    if (this.recorded !== undefined) {
      let tests = this.recorded.get(id);
      if (tests === undefined) this.recorded.set(id, (tests = new Set()));
      tests.add(this.current);
    }
    return id === this.on;
  }

  hear(event) {
    if (event.name === "test_start") {
      this.index += 1;
      const isChosen = this.chosen === undefined || this.chosen.has(this.index);
      if (!isChosen || this.failedTest !== undefined) event.test.mode = "skip";
      else if (this.limitMs !== undefined) {
        event.test.timeout = this.limitMs;
        process.send({ test: this.index, limitMs: this.limitMs });
      }
      this.current = this.index;
      this.begunAt = performance.now();
    } else if (event.name === "test_skip" || event.name === "test_todo") {
      if (this.recorded) this.skipped.push(this.index);
      this.current = -1;
    } else if (event.name === "test_done") {
      if (this.recorded) this.tookMs[this.index] = performance.now() - this.begunAt;
      if (event.test.errors.length > 0 && this.failedTest === undefined) {
        this.failedTest = event.test.name;
        this.tooSlow = event.test.errors.some((error) =>
          /Exceeded timeout/.test(String(error?.[0]?.message ?? error?.message ?? error)),
        );
      }
      this.current = -1;
    }
  }
}

module.exports = { __esModule: true, default: MutantsRunner };
