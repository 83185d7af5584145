/** Ends a run by naming what was skipped for want of a server, or of the full size: a skipped promise must not look kept. */
class SkippedBlocksReporter {
  onRunComplete(_contexts, results) {
    const blocks = new Map();
    for (const file of results.testResults)
      for (const result of file.testResults) {
        const block = [...result.ancestorTitles, result.title].find((title) => title.includes("[needs "));
        if (block !== undefined && result.status === "pending")
          blocks.set(block, (blocks.get(block) ?? 0) + 1);
      }
    if (blocks.size === 0) return;
    const lines = [...blocks].sort().map(([block, tests]) => `  ${block}: ${tests} skipped`);
    process.stderr.write(`\nNot run here (npm run test:all refuses to skip them):\n${lines.join("\n")}\n`);
  }
}

module.exports = SkippedBlocksReporter;
