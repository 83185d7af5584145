import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantProject, projectRoot } from "./planted-project";

interface Outcome {
  readonly effects: readonly { readonly file: string; readonly what: string }[];
  readonly output: string;
  readonly filesWritten: readonly string[];
  readonly loaded: readonly string[];
}

function importAll(files: readonly string[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-importing-"));
  try {
    const child = spawnSync(
      process.execPath,
      [join(__dirname, "import-everything.cjs"), JSON.stringify(files)],
      {
        cwd: folder,
        // An empty home and working folder: whatever a module reads or writes by default would be seen here.
        env: { PATH: process.env["PATH"], HOME: folder, TMPDIR: folder, XDG_STATE_HOME: folder },
        encoding: "utf8",
        stdio: ["ignore", "pipe", "pipe", "pipe"],
        timeout: 60_000, // a handle that an import left open would keep it from ending
      },
    );
    if (child.status !== 0) throw new Error(`ended with ${child.status ?? child.signal}: ${child.stderr}`);
    const told = JSON.parse(child.output[3] ?? "") as Pick<Outcome, "effects" | "loaded">;
    return { ...told, output: child.stdout + child.stderr, filesWritten: readdirSync(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => join(folder, path));
}

const nothing = { effects: [], output: "", filesWritten: [] };

describe("importing a module", () => {
  test("has no effect, whichever module it is", () => {
    expect(importAll(sourcesIn(join(projectRoot, "src")))).toMatchObject(nothing);
  }, 90_000);

  test("of the published entries loads no client of a store that was not chosen", () => {
    const entries = ["gateway.ts", "gateway-contract.ts", "locks.ts", "main.ts"]
      .map((name) => join(projectRoot, "src", name))
      .filter(existsSync);
    const heavy = /node_modules\/(@google-cloud\/storage|ioredis|pg|stripe|@photostructure\/sqlite)\//;
    expect(importAll(entries).loaded.filter((path) => heavy.test(path))).toEqual([]);
  }, 90_000);

  test("of the program loads the command line alone: each command brings the rest when it is asked for", () => {
    const loaded = importAll([join(projectRoot, "src/main.ts")]).loaded;
    expect(loaded.some((path) => path.includes("/node_modules/commander/"))).toBe(true);
    const forCommands =
      /node_modules\/(@?inversify(js)?|reflect-metadata|kysely|zod|express|helmet|pino|prom-client|async-mutex)\//;
    expect(loaded.filter((path) => forCommands.test(path))).toEqual([]);
  }, 90_000);

  test("of the locks of a task loads neither the container nor a server's libraries", () => {
    const locks = join(projectRoot, "src/infrastructure/composition/commands/with-task-locks.ts");
    const { loaded } = importAll([locks]);
    expect(loaded).toContain(locks);
    const forServers = /node_modules\/(@?inversify(js)?|kysely|zod|express|helmet|pino|prom-client)\//;
    expect(loaded.filter((path) => forServers.test(path))).toEqual([]);
  }, 90_000);

  test("of the helper that composes classes loads reflect-metadata, not only the part that inversify brings", () => {
    const { loaded } = importAll([
      join(projectRoot, "src/infrastructure/composition/container/constructs.ts"),
    ]);
    expect(loaded.filter((path) => path.endsWith("/node_modules/reflect-metadata/Reflect.js"))).toHaveLength(
      1,
    );
  }, 90_000);

  test("of the kind of lock that is chosen loads no client, no other kind and no server's libraries", () => {
    const kinds = sourcesIn(join(projectRoot, "src/infrastructure/locking")).filter((path) =>
      path.endsWith("-lock-kind.ts"),
    );
    expect(kinds.length).toBeGreaterThan(4);
    const others =
      /node_modules\/(@?inversify(js)?|kysely|zod|express|helmet|pino|prom-client|@google-cloud\/storage)\//;
    for (const kind of kinds) {
      const { loaded } = importAll([kind]);
      expect(loaded.filter((path) => path.endsWith("-lock-kind.ts"))).toEqual([kind]);
      expect(loaded.filter((path) => others.test(path))).toEqual([]);
    }
  }, 90_000);

  test.each([
    ["a timer", "active handles", "setTimeout(() => undefined, 10);"],
    ["a variable", "environment", 'process.env["PLANTED"] = "1";'],
    ["a signal handler", "process listeners", 'process.on("SIGTERM", () => undefined);'],
    ["a global", "globals", "(globalThis as Record<string, unknown>)['planted'] = 1;"],
  ])("is caught when it leaves %s behind", (_, what, text) => {
    const planted = plantProject({ "src/planted.ts": `export const here = 1; ${text}` });
    try {
      const { effects } = importAll([join(planted.folder, "src/planted.ts")]);
      expect(effects.map((effect) => effect.what)).toEqual([what]);
    } finally {
      planted.remove();
    }
  });

  test.each([
    ["speaks", 'console.log("planted");', { output: "planted\n" }],
    ["writes", 'require("node:fs").writeFileSync("planted.txt", "");', { filesWritten: ["planted.txt"] }],
  ])("is caught when it %s", (_, text, caught) => {
    const planted = plantProject({ "src/planted.ts": `export const here = 1; ${text}` });
    try {
      expect(importAll([join(planted.folder, "src/planted.ts")])).toMatchObject(caught);
    } finally {
      planted.remove();
    }
  });
});
