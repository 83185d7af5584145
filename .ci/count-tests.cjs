// node count-tests.cjs <folder of jest --json results> [failed step…]: the last line of the gate, and its exit status.
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const { join } = require("node:path");

const [folder, ...failedSteps] = process.argv.slice(2);
const files = existsSync(folder) ? readdirSync(folder) : [];
let passed = 0;
let failed = 0;
let skipped = 0;
for (const file of files) {
  const run = JSON.parse(readFileSync(join(folder, file), "utf8"));
  passed += run.numPassedTests;
  failed += run.numFailedTests + run.numRuntimeErrorTestSuites;
  skipped += run.numPendingTests;
  if (run.numPassedTests === 0) failedSteps.push(`${file}: no test ran`);
}

if (files.length === 0) failedSteps.push("no run of the tests left a result");

console.log(`\n${files.length} test runs, ${skipped} tests skipped for want of a server`);
for (const step of failedSteps) console.log(`failed: ${step}`);
failed += failedSteps.length;
console.log(`${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
