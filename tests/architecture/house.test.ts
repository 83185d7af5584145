import { mkdtempSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { countFolders, countLines, MOST_LOOSE_FILES } from "../../scripts/count-house";
import { projectFiles } from "./documents";
import { projectRoot } from "./planted-project";

const tooFull = (root: string, top: string) =>
  countFolders(root, top).filter(({ looseFiles }) => looseFiles > MOST_LOOSE_FILES);

describe("every folder", () => {
  it.each(["src", "tests"])("below %s can be read at a glance", (top) => {
    expect(tooFull(projectRoot, top)).toEqual([]);
  });

  it("that is too full is found, however deep it lies", () => {
    const root = mkdtempSync(join(tmpdir(), "holdfast-house-"));
    try {
      mkdirSync(join(root, "src/deep/down"), { recursive: true });
      for (let n = 0; n <= MOST_LOOSE_FILES; n += 1)
        writeFileSync(join(root, `src/deep/down/file-${n}.ts`), "one\ntwo\n");
      expect(tooFull(root, "src")).toEqual([{ folder: "src/deep/down", looseFiles: MOST_LOOSE_FILES + 1 }]);
      expect(countLines(root, "src")).toBe(2 * (MOST_LOOSE_FILES + 1));
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});

describe("every file of src", () => {
  const MOST_LINES = 300;
  const dataRatherThanCode = [
    "src/interfaces/http/openapi/examples.ts",
    "src/interfaces/client/generated/operations.ts",
    "src/interfaces/client/generated/schemas.ts",
  ];

  it("is short enough to be read in one go", () => {
    const long = projectFiles()
      .filter((path) => /^src\/.*\.ts$/.test(path) && !dataRatherThanCode.includes(path))
      .filter((path) => readFileSync(join(projectRoot, path), "utf8").split("\n").length > MOST_LINES);
    expect(long).toEqual([]);
  });
});
