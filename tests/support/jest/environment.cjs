"use strict";
const { LegacyFakeTimers, ModernFakeTimers } = require("@jest/fake-timers");
const { ModuleMocker } = require("jest-mock");

/**
 * Where test files run: in the realm of their worker. Jest's own environment makes a realm for each file; there, each
 * look at a global passes a proxy, and everything begins uncompiled. What a file leaves behind is put back here, but for spies, which the runtime puts back:
 * globals, timers, the environment's variables, the working folder. See ADR 0118.
 */
class WorkersOwnRealm {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);
  found = {
    globals: Object.getOwnPropertyDescriptors(globalThis),
    variables: { ...process.env },
    folder: process.cwd(),
    exit: process.exit,
  };

  constructor({ projectConfig: config }) {
    this.fakeTimers = new LegacyFakeTimers({
      config,
      global: globalThis,
      moduleMocker: this.moduleMocker,
      timerConfig: { idToRef: (id) => id, refToId: (timer) => timer },
    });
    this.fakeTimersModern = new ModernFakeTimers({ config, global: globalThis });
  }

  async setup() {
    // As in Jest's own environment: ten lines of a stack are often those of libraries only.
    Error.stackTraceLimit = 100;
  }

  async teardown() {
    this.fakeTimers.dispose();
    this.fakeTimersModern.dispose();
    // Jest puts a function around it for each file.
    process.exit = this.found.exit;
    putBackVariables(this.found.variables);
    if (process.cwd() !== this.found.folder) process.chdir(this.found.folder);
    putBackGlobals(this.found.globals);
  }

  exportConditions() {
    return ["node", "node-addons"];
  }

  getVmContext() {
    return globalThis;
  }
}

function putBackVariables(variables) {
  for (const name of Object.keys(process.env)) if (!(name in variables)) delete process.env[name];
  for (const [name, value] of Object.entries(variables))
    if (process.env[name] !== value) process.env[name] = value;
}

/** Where Jest's own part for one file leaves what it knows; the next file's would go on with it. */
const OF_ONE_FILE = ["EVENT_HANDLERS", "JEST_STATE_SYMBOL"];

/** Other symbols belong to packages, which stay. */
function putBackGlobals(globals) {
  for (const symbol of Object.getOwnPropertySymbols(globalThis))
    if (OF_ONE_FILE.includes(symbol.description)) delete globalThis[symbol];
  for (const [name, now] of Object.entries(Object.getOwnPropertyDescriptors(globalThis))) {
    const before = globals[name];
    if (!now.configurable) continue;
    if (before === undefined) delete globalThis[name];
    else if (now.value !== before.value || now.get !== before.get)
      Object.defineProperty(globalThis, name, before);
  }
}

module.exports = WorkersOwnRealm;
