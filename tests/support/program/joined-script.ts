import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { Script } from "node:vm";
import { asFunction, bundled } from "./joined-program";

const root = join(__dirname, "..", "..", "..");
const place = join(root, "node_modules", ".cache", "holdfast-children");

/**
 * A script of the tests with the sources and packages that it imports, as one file that Node runs, and beside it what Node
 * has compiled of it. Children that look for and compile the sources for themselves spend most of their time on it.
 */
export function joinedScript(script: string): string {
  const name = `${basename(script, ".ts")}-${createHash("sha256").update(script).digest("hex").slice(0, 8)}`;
  const folder = join(place, name);
  const main = join(folder, "main.cjs");
  if (changedAt(main) > newestSource()) return main;
  mkdirSync(folder, { recursive: true });
  // Several workers may make the same: each makes its own, and the last one stays.
  const own = (file: string): string => join(folder, `${process.pid}.${file}`);
  execFileSync(...bundled(script, own("program.js")));
  const program = asFunction(readFileSync(own("program.js"), "utf8"));
  writeFileSync(own("program.js"), program);
  writeFileSync(
    own("program.compiled"),
    new Script(program, { filename: join(folder, "program.js") }).createCachedData(),
  );
  copyFileSync(join(__dirname, "joined-main.cjs"), own("main.cjs"));
  for (const file of ["program.js", "program.compiled", "main.cjs"])
    renameSync(own(file), join(folder, file));
  return main;
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
