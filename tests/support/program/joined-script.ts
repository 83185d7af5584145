import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readdirSync, renameSync, statSync } from "node:fs";
import { basename, join } from "node:path";

const root = join(__dirname, "..", "..", "..");
const place = join(root, "node_modules", ".cache", "holdfast-children");

/**
 * A script of the tests with the sources that it imports, as one file that Node runs. Children that compile the sources
 * for themselves spend most of their time on it.
 */
export function joinedScript(script: string): string {
  const name = `${basename(script, ".ts")}-${createHash("sha256").update(script).digest("hex").slice(0, 8)}`;
  const joined = join(place, `${name}.cjs`);
  if (changedAt(joined) > newestSource()) return joined;
  // Several workers may make the same: each makes its own, and the last one stays.
  const own = `${joined}.${process.pid}.cjs`;
  execFileSync(join(root, "node_modules", ".bin", "esbuild"), [
    script,
    "--bundle",
    "--platform=node",
    "--packages=external",
    "--log-level=error",
    `--outfile=${own}`,
  ]);
  renameSync(own, joined);
  return joined;
}

let newest: number | undefined;

/** Nobody changes the sources while a test file runs. */
function newestSource(): number {
  newest ??= Math.max(...["src", "tests", "examples"].flatMap((folder) => timesIn(join(root, folder))));
  return newest;
}

function timesIn(folder: string): number[] {
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return paths.map((path) => changedAt(join(folder, path)));
}

/** 0 for what is not there. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
