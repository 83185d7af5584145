import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";

const root = join(__dirname, "..", "..", "..");
/** Apart from `dist`, which a build by hand may empty at any time, and where the dependencies are still found. */
const place = join(root, "node_modules", ".cache", "holdfast-built");
const stamp = join(place, "stamp");
const BUILD_TIMEOUT_MS = 120_000;

/** The program as `npm run build` makes it, made once for all tests that need it at the same time. Resolves with its main file. */
export async function builtProgram(): Promise<string> {
  // Another build of it, with something exchanged: see scripts/planted-composition.ts.
  const given = process.env["HOLDFAST_TEST_PROGRAM"];
  if (given !== undefined) return given;
  mkdirSync(place, { recursive: true });
  const locks = new FileLockProvider(join(place, "locks"));
  try {
    await locks.withLock("task:build", () => buildIfStale(), { timeout: BUILD_TIMEOUT_MS });
  } finally {
    await locks.close();
  }
  return join(place, "dist", "main.js");
}

async function buildIfStale(): Promise<void> {
  const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const inputs = [...sources.map((path) => join("src", path)), "tsconfig.json", "tsconfig.build.json"];
  const newest = Math.max(...inputs.map((path) => changedAt(join(root, path))));
  if (changedAt(stamp) > newest) return;
  const outDir = join(place, "dist");
  rmSync(outDir, { recursive: true, force: true });
  await promisify(execFile)(join(root, "node_modules", ".bin", "tsc"), [
    "-p",
    join(root, "tsconfig.build.json"),
    "--outDir",
    outDir,
  ]);
  copyFileSync(join(root, "package.json"), join(place, "package.json"));
  writeFileSync(stamp, "");
}

/** 0 for what is not there. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
