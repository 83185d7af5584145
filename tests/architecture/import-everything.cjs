// Run as a process of its own: for each group of files, requires each one that is named, with nothing loaded that an earlier
// group needed, and tells on file descriptor 3 what that changed, and what was loaded.
const { writeSync } = require("node:fs");

// Their pipes are there before anything is compared.
void [process.stdout, process.stderr];

const groups = JSON.parse(process.argv[2]);
const before = new Set(Object.keys(require.cache));

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

function imported(files) {
  for (const path of Object.keys(require.cache)) if (!before.has(path)) delete require.cache[path];
  const effects = [];
  let was = surroundings();
  for (const file of files) {
    require(file);
    const is = surroundings();
    for (const what of Object.keys(was))
      if (was[what] !== is[what]) effects.push({ file, what, before: was[what], after: is[what] });
    was = is;
  }
  return { effects, loaded: Object.keys(require.cache) };
}

writeSync(3, JSON.stringify(groups.map(imported)));
