import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { commandsIn, deadLinks, documents, projectFiles, sections } from "./documents";
import { projectRoot } from "./planted-project";

const { scripts } = JSON.parse(readFileSync(join(projectRoot, "package.json"), "utf8")) as {
  scripts: Record<string, string>;
};
const npmItself = ["ci", "install", "i", "pack"];

/** What npm would look for in package.json; nothing for npm's own commands. */
function scriptOf(words: readonly string[]): string | undefined {
  const [verb = "", name] = words.slice(1).filter((word) => !word.startsWith("-"));
  if (npmItself.includes(verb)) return undefined;
  return verb === "run" ? (name ?? "(none)") : verb;
}

function unknownScripts(text: string): string[] {
  return commandsIn({ path: "", text }, "npm")
    .map(scriptOf)
    .filter((name) => name !== undefined && !(name in scripts))
    .map(String);
}

describe("documents", () => {
  test("link only to what is there", () => {
    expect(documents().flatMap(deadLinks)).toEqual([]);
  });

  test("a dead link is noticed, to a file and to a heading", () => {
    const text = "# Here\n[a](gone.md) [b](#here) [c](#there) [d](package.json) [e](https://example.org/x)";
    expect(deadLinks({ path: "CHANGELOG.md", text })).toEqual([
      "CHANGELOG.md: gone.md",
      "CHANGELOG.md: #there",
    ]);
  });

  test("name only npm scripts that exist", () => {
    expect(documents().map(({ path, text }) => [path, unknownScripts(text)])).toEqual(
      documents().map(({ path }) => [path, []]),
    );
  });

  test("an npm script that does not exist is noticed", () => {
    const text =
      "```sh\nnpm ci && npm start\nnpm run gone\n```\nor `A=1 npm run --silent lost -- x`, `npm t3st`";
    expect(unknownScripts(text)).toEqual(["gone", "lost", "t3st"]);
  });

  test("name only commands of holdfast that its help names", () => {
    const named = documents()
      .filter(({ path }) => path !== "CHANGELOG.md")
      .flatMap((document) => commandsIn(document, "holdfast"))
      .map((words) => words[1] ?? "")
      .filter((word) => /^[a-z]/.test(word));
    const commands = commandsOfHelp();
    expect(commands).toContain("serve");
    expect([...new Set(named)].filter((word) => !commands.includes(word))).toEqual([]);
  }, 30_000);
});

describe("README.md", () => {
  const readme = readFileSync(join(projectRoot, "README.md"), "utf8");

  test("fits in 150 lines", () => {
    expect(readme.split("\n").length).toBeLessThanOrEqual(151);
  });

  test("has an example that the gate can run", () => {
    expect(readme).toMatch(/<!-- the gate runs this -->\n\n```sh\n[^`]*curl[^`]*\/capture"/);
  });
});

function commandsOfHelp(): string[] {
  const main = join(projectRoot, "src/main.ts");
  const register = require.resolve("esbuild-register");
  const help = spawnSync(process.execPath, ["-r", register, main, "--help"], { encoding: "utf8" });
  return [...help.stdout.matchAll(/^ {2}([a-z]+)/gm)].map((match) => match[1] ?? "");
}

describe("decision records", () => {
  const records = documents().filter(({ path }) => /^docs\/adr\/\d/.test(path));
  const expected = ["Context", "Decision", "Rejected", "Stops applying", "Enforced by"];

  test("there are some", () => {
    expect(records.length).toBeGreaterThan(0);
  });

  test.each(records)("$path has all its sections, in order", ({ text }) => {
    expect([...sections(text).keys()]).toEqual(expected);
  });

  test.each(records)(
    "$path names at least one test or rule that enforces it, and each exists",
    ({ text }) => {
      const enforcers = [...(sections(text).get("Enforced by") ?? "").matchAll(/`([\w.-]*[/.][\w./-]+)`/g)];
      const paths = enforcers.map((match) => match[1] ?? "");
      expect(paths.length).toBeGreaterThan(0);
      expect(paths.filter((path) => !existsSync(join(projectRoot, path)))).toEqual([]);
    },
  );

  test.each(records)("$path fits in two screens", ({ text }) => {
    expect(text.split("\n").length).toBeLessThanOrEqual(81);
  });
});

describe("the tree", () => {
  const texts = projectFiles()
    .filter((path) => /(\.(ts|js|cjs|mjs|json|md|toml|sh|yml)|\/run|rc)$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(projectRoot, path), "utf8") }));

  test("names no folder of the machine it was made on", () => {
    const machinePath = /(^|[\s"'`(=:])\/(work|root|Users)\/\w/m;
    expect(texts.filter(({ text }) => machinePath.test(text)).map(({ path }) => path)).toEqual([]);
  });

  test("leaves no note to do something later, and switches no test off", () => {
    const later = /\b(TO[D]O|FIX[M]E|X[X]X)\b/;
    const off = /\b(test|it|describe)\.(only|skip|todo)\(/;
    const allowed = [
      "tests/support/servers/servers.ts", // skips, by name, what needs a server that is not there
      "tests/fixtures/iso-4217.json", // has the code for "no currency"
    ];
    const found = texts.filter(
      ({ path, text }) => later.test(text) || (path.endsWith(".ts") && off.test(text)),
    );
    expect(found.map(({ path }) => path).filter((path) => !allowed.includes(path))).toEqual([]);
  });
});
