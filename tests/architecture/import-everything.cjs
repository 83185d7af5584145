// Run as a process of its own: requires each file that is named, and tells on file descriptor 3 what that changed.
const { writeSync } = require("node:fs");
require("esbuild-register");
require("./planted-project.ts"); // the compiler's own process and pipes are there before anything is compared

const files = JSON.parse(process.argv[2]);

/** Libraries mark the global object so that two copies of them find each other; such a mark has no effect on us. */
function isNobodysMark(name) {
  return !/^__(zod_|core-js_)/.test(name);
}

function surroundings() {
  return {
    "active handles": process.getActiveResourcesInfo().sort().join(),
    environment: JSON.stringify(process.env),
    "working directory": process.cwd(),
    "process listeners": process
      .eventNames()
      .map((name) => `${String(name)}:${process.listenerCount(name)}`)
      .sort()
      .join(),
    "exit status": String(process.exitCode),
    globals: Object.getOwnPropertyNames(globalThis).filter(isNobodysMark).sort().join(),
  };
}

const effects = [];
for (const file of files) {
  const before = surroundings();
  require(file);
  const after = surroundings();
  for (const what of Object.keys(before))
    if (before[what] !== after[what]) effects.push({ file, what, before: before[what], after: after[what] });
}
writeSync(3, JSON.stringify({ effects, loaded: Object.keys(require.cache) }));
