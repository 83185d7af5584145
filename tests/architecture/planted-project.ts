import { mkdirSync, mkdtempSync, rmSync, symlinkSync, copyFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export const projectRoot = join(__dirname, "..", "..");

const rulesOfTheProject = [
  "package.json",
  "tsconfig.json",
  "eslint.config.mjs",
  ".dependency-cruiser.cjs",
  "knip.json",
];

/** A folder that has this project's rules and dependencies, and nothing in it but what a test plants. */
export interface PlantedProject {
  readonly folder: string;
  remove(): void;
}

export function plantProject(files: Readonly<Record<string, string>>): PlantedProject {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-planted-"));
  for (const name of rulesOfTheProject) copyFileSync(join(projectRoot, name), join(folder, name));
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
