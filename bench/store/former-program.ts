import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const REPOSITORY = join(__dirname, "../../../..");

export interface FormerProgram {
  /** Its entry point, built with the packages of today. */
  readonly program: string;
  remove(): void;
}

/** The program of an earlier commit. Throws where the repository's history does not have it. */
export function formerProgram(commit: string): FormerProgram {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-bench-former-"));
  const archive = execFileSync("git", ["-C", REPOSITORY, "archive", commit], { maxBuffer: 2 ** 30 });
  execFileSync("tar", ["-x", "-C", folder], { input: archive });
  symlinkSync(join(REPOSITORY, "node_modules"), join(folder, "node_modules"));
  execFileSync("npm", ["run", "--silent", "build"], { cwd: folder, stdio: "ignore" });
  return { program: join(folder, "dist/main.js"), remove: () => rmSync(folder, { recursive: true }) };
}
