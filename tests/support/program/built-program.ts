import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { promisify } from "node:util";
import { FileLockProvider } from "../../../src/infrastructure/locking/file/file-lock-provider";
import { size } from "../test-size";
import { joinProgram } from "./joined-program";

const root = join(__dirname, "..", "..", "..");
/** Apart from `dist`, which a build by hand may empty at any time, and where the dependencies are still found. */
const place = join(root, "node_modules", ".cache", "holdfast-built");
const stamp = join(place, "stamp");
const BUILD_TIMEOUT_MS = 120_000;

/** The program as `npm run build` makes it, made once for all tests that need it at the same time. Resolves with its main file. */
export async function builtProgram(): Promise<string> {
  return given() ?? underLock(buildIfStale);
}

/**
 * What tests start as the program: at full size the built one; otherwise the same code in one file that starts in less
 * than half the time. Resolves with its main file.
 */
export async function startedProgram(): Promise<string> {
  return given() ?? underLock(size(buildIfStale, joinBuilt));
}

/** What `npm pack` makes of the built program, packed once per build: npm takes seconds for it. Resolves with the archive. */
export function packedProgram(): Promise<string> {
  return underLock(async () => {
    await buildIfStale();
    const folder = join(place, "packed");
    const archive = join(folder, "holdfast.tgz");
    if (changedAt(archive) > changedAt(stamp)) return archive;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    const args = ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder];
    const { stdout } = await promisify(execFile)("npm", args, { cwd: place });
    renameSync(join(folder, stdout.trim()), archive);
    return archive;
  });
}

/**
 * A script of the tests that serves, with the sources that it serves: processes that compile them anew would do little else.
 * `script` is its path below `tests`, `options` are some with which it serves.
 */
export function joinedServer(script: string, options: object): Promise<string> {
  return underLock(async () => {
    const newest = Math.max(newestOf("src"), newestOf(join("tests", dirname(script))));
    const folder = join(place, "joined", basename(script, ".ts"));
    return joinIfStale(folder, newest, join(root, "tests", script), [JSON.stringify(options)]);
  });
}

/** Another build of it, with something exchanged: see scripts/planted-composition.ts. */
function given(): string | undefined {
  return process.env["HOLDFAST_TEST_PROGRAM"];
}

async function underLock(make: () => Promise<string>): Promise<string> {
  mkdirSync(place, { recursive: true });
  const locks = new FileLockProvider(join(place, "locks"));
  try {
    return await locks.withLock("task:build", make, { timeout: BUILD_TIMEOUT_MS });
  } finally {
    await locks.close();
  }
}

async function buildIfStale(): Promise<string> {
  const outDir = join(place, "dist");
  const main = join(outDir, "main.js");
  const configured = ["tsconfig.json", "tsconfig.build.json", "scripts/bundle.js"].map((path) =>
    changedAt(join(root, path)),
  );
  if (changedAt(stamp) > Math.max(newestOf("src"), ...configured)) return main;
  rmSync(outDir, { recursive: true, force: true });
  await promisify(execFile)(join(root, "node_modules", ".bin", "tsc"), [
    "-p",
    join(root, "tsconfig.build.json"),
    "--outDir",
    outDir,
  ]);
  await promisify(execFile)(process.execPath, [join(root, "scripts", "bundle.js"), outDir]);
  copyFileSync(join(root, "package.json"), join(place, "package.json"));
  writeFileSync(stamp, "");
  return main;
}

async function joinBuilt(): Promise<string> {
  const built = await buildIfStale();
  const settings = ["--port", "0", "--shutdown-delay", "0", "--store", "memory:", "--sandbox-limit", "0"];
  // The program looks for its package.json three folders above its code.
  const folder = join(place, "joined", "of", "program");
  return joinIfStale(folder, changedAt(stamp), built, ["serve", ...settings]);
}

async function joinIfStale(
  folder: string,
  newest: number,
  entry: string,
  serve: readonly string[],
): Promise<string> {
  const joinedStamp = join(folder, "stamp");
  if (changedAt(joinedStamp) <= newest) {
    await joinProgram(entry, folder, serve);
    writeFileSync(joinedStamp, "");
  }
  return join(folder, "main.cjs");
}

function newestOf(folder: string): number {
  const paths = readdirSync(join(root, folder), { recursive: true, encoding: "utf8" });
  return Math.max(...paths.map((path) => changedAt(join(root, folder, path))));
}

/** 0 for what is not there. */
function changedAt(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
