"use strict";
const { join } = require("node:path");
const { default: WorkersRuntime } = require(join(process.cwd(), "tests/support/jest/runtime.cjs"));

/**
 * Loads the program once for all mutants that no module asks about while it is loaded: to load it anew for each of them took longer
 * than the tests. Who is asked about then gets modules of its own: see `kept` in the runner.
 */
class KeepingRuntime extends WorkersRuntime {
  constructor(...parts) {
    super(...parts);
    const loader = this.cjsLoader;
    const load = loader.requireModule;
    loader.requireModule = (from, name, ...more) => {
      const mutants = globalThis.holdfastMutants;
      const path = this.fileOf(from, name);
      if (mutants?.kept === undefined || !path?.startsWith(this.sources)) return load(from, name, ...more);
      const { kept, on } = mutants;
      if (!kept.has(path)) {
        // What is kept for others has to be without any mutant.
        mutants.on = 0;
        try {
          kept.set(path, load(from, name, ...more));
        } finally {
          mutants.on = on;
        }
      }
      return kept.get(path);
    };
  }

  /** Which ones do is decided above. */
  staysLoaded() {
    return false;
  }
}

module.exports = { __esModule: true, default: KeepingRuntime };
