// npm run bench [-- [--tiny] suite…]: installs the peers if they are missing, builds program and bench, and runs it.
const { spawnSync } = require("node:child_process");
const { existsSync, rmSync } = require("node:fs");
const { join } = require("node:path");

const root = join(__dirname, "..");

function run(command, args, cwd = root) {
  const { status } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) process.exit(status ?? 1);
}

if (!existsSync(join(__dirname, "node_modules")))
  run("npm", ["ci", "--no-audit", "--no-fund", "--legacy-peer-deps", "--ignore-scripts"], __dirname);
run("npm", ["run", "--silent", "build"]);
rmSync(join(__dirname, "build"), { recursive: true, force: true });
run("npx", ["tsc", "-p", "bench/tsconfig.json"]);
run(process.execPath, [join(__dirname, "build/bench/main.js"), ...process.argv.slice(2)]);
