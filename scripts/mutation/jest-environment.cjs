"use strict";
const { join } = require("node:path");
const WorkersOwnRealm = require(join(process.cwd(), "tests/support/jest/environment.cjs"));

/** Tells the runner which test runs, and lets it skip those that never come to the mutant. */
module.exports = class extends WorkersOwnRealm {
  handleTestEvent(event) {
    globalThis.holdfastMutants?.hear(event);
  }
};
