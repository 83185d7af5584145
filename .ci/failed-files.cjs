// node failed-files.cjs <jest --json result>: the files with a failure, a line each; nothing when they are many, because
// what breaks in more than three files at once is broken and no matter of a busy machine.
const { readFileSync } = require("node:fs");

const MANY = 3;
const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const failed = testResults.filter(({ status }) => status === "failed").map(({ name }) => name);
for (const file of failed.length <= MANY ? failed : []) console.log(file);
