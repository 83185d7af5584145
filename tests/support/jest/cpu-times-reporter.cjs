/**
 * What each test file costs in CPU time, which a busy machine does not change much: by the process of the tests itself,
 * and by the processes that they start (Linux only). For a run in one process: see `npm run test:times`.
 */
const { readFileSync } = require("node:fs");
const { relative } = require("node:path");

const SHOWN = 40;
const TICKS_PER_SECOND = 100;

class CpuTimesReporter {
  files = [];
  before = used();

  onTestFileResult(test) {
    const now = used();
    const { own, children } = this.before;
    this.files.push({ path: test.path, own: now.own - own, children: now.children - children });
    this.before = now;
  }

  onRunComplete() {
    const total = ({ own, children }) => own + children;
    const sum = this.files.reduce((seconds, file) => seconds + total(file), 0);
    console.log("  CPU s   own  children");
    for (const file of this.files.sort((a, b) => total(b) - total(a)).slice(0, SHOWN)) {
      const columns = [total(file), file.own, file.children].map((seconds) => seconds.toFixed(1).padStart(7));
      console.log(`${columns.join("")}  ${relative(process.cwd(), file.path)}`);
    }
    console.log(`${sum.toFixed(0)} s of CPU time in ${this.files.length} files`);
  }
}

function used() {
  const { user, system } = process.cpuUsage();
  return { own: (user + system) / 1e6, children: ofChildren() };
}

/** Of those that have ended; see proc_pid_stat(5). */
function ofChildren() {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) / TICKS_PER_SECOND;
  } catch {
    return 0;
  }
}

module.exports = CpuTimesReporter;
