"use strict";
const { join, sep } = require("node:path");
const { compileFunction, constants } = require("node:vm");
const { default: JestRuntime } = require("jest-runtime");

const PARAMETERS = ["module", "exports", "require", "__dirname", "__filename", "jest"];
const PACKAGES = `${sep}node_modules${sep}`;
/** Jest's own part that knows which file it runs: each file gets a new one. */
const CIRCUS = `${PACKAGES}jest-circus${sep}`;

/** What stays loaded, by its path, for all test files of this worker. */
const kept = new Map();

/**
 * Loads what a test file needs into the realm of its worker: packages once per worker, as Node loads them; tests and
 * what is beside them for each file. The program and the support of its tests are loaded once per worker, too, and at full size for each
 * file. See ADR 0118.
 */
class SharingRuntime extends JestRuntime {
  constructor(config, ...parts) {
    super(config, ...parts);
    this.sources = join(config.rootDir, "src") + sep;
    this.support = join(config.rootDir, "tests", "support") + sep;
    this.executor.compile = (source, filename) =>
      compileFunction(source, PARAMETERS, {
        filename,
        importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      });
    const loader = this.cjsLoader;
    const load = loader.requireModule.bind(loader);
    loader.requireModule = (from, name, ...more) => {
      if (name === "node:async_hooks" && from.includes(CIRCUS))
        return { AsyncLocalStorage: OneAfterTheOther };
      const path = this.fileOf(from, name);
      if (path?.includes(PACKAGES) && !path.includes(CIRCUS)) return require(path);
      if (path === undefined || !this.staysLoaded(path)) return load(from, name, ...more);
      if (!kept.has(path)) kept.set(path, load(from, name, ...more));
      return kept.get(path);
    };
  }

  staysLoaded(path) {
    if (process.env["HOLDFAST_TEST_SIZE"] === "full" || path.endsWith(".test.ts")) return false;
    return path.startsWith(this.sources) || path.startsWith(this.support);
  }

  /** What stays may load more of the program, or of Node, when it is called for another test file. */
  teardown() {
    super.teardown();
    this.testState.enterTestCode();
  }

  /** Undefined for a module of Node. */
  fileOf(from, name) {
    if (!name) return from;
    return this._resolution.isCoreModule(name) ? undefined : this._resolution.resolveCjs(from, name);
  }
}

/**
 * Which test runs, for Jest: the tests of a file run one after the other. With Node's storage, Node 20 would call
 * functions for each promise that is made, in tests that use none.
 */
class OneAfterTheOther {
  current = undefined;

  getStore() {
    return this.current;
  }

  run(store, callback) {
    const outer = this.current;
    this.current = store;
    return Promise.resolve(callback()).finally(() => {
      this.current = outer;
    });
  }
}

module.exports = { __esModule: true, default: SharingRuntime };
