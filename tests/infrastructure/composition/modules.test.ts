import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const COMPOSITION = join(__dirname, "../../../src/infrastructure/composition");

/** What a file exports, by name. */
const exportsOf = (text: string): string[] =>
  [...text.matchAll(/^export (?:async )?(?:abstract )?\w+ (\w+)/gm)].map(([, name = ""]) => name);

/** `store-module.ts` → `storeModule` */
const functionOf = (file: string): string =>
  file.replace(/\.ts$/, "").replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

describe("a file that is called a module", () => {
  const files = readdirSync(COMPOSITION, { recursive: true, encoding: "utf8" }).filter((path) =>
    path.endsWith("-module.ts"),
  );

  it.each(files)("exports one container module and nothing else: %s", (path) => {
    const text = readFileSync(join(COMPOSITION, path), "utf8");
    const [, name = ""] = /([^/]+)$/.exec(path) ?? [];
    expect(exportsOf(text)).toEqual([functionOf(name)]);
    expect(text).toMatch(
      new RegExp(`^export function ${functionOf(name)}\\([^]*?\\): ContainerModule \\{`, "m"),
    );
  });

  it("is more than one", () => {
    expect(files.length).toBeGreaterThan(1);
  });
});
