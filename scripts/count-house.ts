import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** A folder with more files of its own is searched, not read. */
export const MOST_LOOSE_FILES = 15;

export interface CountedFolder {
  readonly folder: string;
  /** Files in the folder itself, not in those below it. */
  readonly looseFiles: number;
}

/** Every folder below `root/top`, the fullest first. */
export function countFolders(root: string, top: string): readonly CountedFolder[] {
  const counted: CountedFolder[] = [];
  const count = (folder: string): void => {
    const entries = readdirSync(join(root, folder), { withFileTypes: true });
    counted.push({ folder, looseFiles: entries.filter((entry) => entry.isFile()).length });
    for (const entry of entries) if (entry.isDirectory()) count(join(folder, entry.name));
  };
  count(top);
  return counted.sort((a, b) => b.looseFiles - a.looseFiles);
}

/** Blank lines and comments included, as an editor counts them. */
export function countLines(root: string, top: string): number {
  return readdirSync(join(root, top), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => readFileSync(join(root, top, path), "utf8").split("\n").length - 1)
    .reduce((sum, lines) => sum + lines, 0);
}

function main(): void {
  const root = join(__dirname, "..");
  for (const top of ["src", "tests"]) {
    const folders = countFolders(root, top);
    const files = folders.reduce((sum, { looseFiles }) => sum + looseFiles, 0);
    process.stdout.write(
      `${top}: ${countLines(root, top)} lines, ${files} files in ${folders.length} folders\n`,
    );
    for (const { folder, looseFiles } of folders.slice(0, 5))
      process.stdout.write(`  ${String(looseFiles).padStart(3)} ${folder}\n`);
  }
}

if (require.main === module) main();
