// node count-tests.cjs <folder of jest --json results> [failed step…]: the last line of the gate, and its exit status.
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const [folder, ...failedSteps] = process.argv.slice(2);
const files = existsSync(folder) ? readdirSync(folder) : [];
const read = (file) => JSON.parse(readFileSync(join(folder, file), "utf8"));
const failuresOf = (run) => run.numFailedTests + run.numRuntimeErrorTestSuites;
const firstRuns = files.filter((file) => !file.endsWith(".again.json"));
const unsteady = [];
let passed = 0;
let failed = 0;
let skipped = 0;
for (const file of firstRuns) {
  const run = read(file);
  const again = file.replace(/json$/, "again.json");
  passed += run.numPassedTests;
  skipped += run.numPendingTests;
  if (run.numPassedTests === 0) failedSteps.push(`${file}: no test ran`);
  // What failed beside everything else and passes alone counts as passed, and is named: it has to be mended all the same.
  const stillFailed = files.includes(again) ? failuresOf(read(again)) : failuresOf(run);
  if (stillFailed < failuresOf(run)) {
    passed += failuresOf(run) - stillFailed;
    for (const test of run.testResults.flatMap(({ assertionResults }) => assertionResults))
      if (test.status === "failed") unsteady.push(`${test.fullName} (${file})`);
  }
  failed += stillFailed;
}

if (files.length === 0) failedSteps.push("no run of the tests left a result");

console.log(`\n${firstRuns.length} test runs, ${skipped} tests skipped for want of a server`);
for (const name of unsteady) console.log(`failed beside others, passed alone: ${name}`);
for (const step of failedSteps) console.log(`failed: ${step}`);
failed += failedSteps.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
