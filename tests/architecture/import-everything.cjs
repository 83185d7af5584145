// Run as a process of its own: requires each file that is named, and tells on file descriptor 3 what that changed.
const { writeSync } = require("node:fs");
require("esbuild-register");
require("./planted-project.ts"); // the compiler's own process and pipes are there before anything is compared

const files = JSON.parse(process.argv[2]);

/** Libraries (zod, tslib, core-js) mark the global object for other copies of themselves; that has no effect on us. */
function isNoLibraryMark(name) {
  return !name.startsWith("__");
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
    globals: Object.getOwnPropertyNames(globalThis).filter(isNoLibraryMark).sort().join(),
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
