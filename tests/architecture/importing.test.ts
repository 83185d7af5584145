import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { plantProject, projectRoot } from "./planted-project";

interface Imported {
  readonly effects: readonly { readonly file: string; readonly what: string }[];
  readonly loaded: readonly string[];
}

interface Outcome {
  readonly groups: readonly Imported[];
  readonly output: string;
  readonly filesWritten: readonly string[];
}

/** Each group as if by itself; all of them in one process, since starting one and its compiler takes longer than most groups. */
function importAll(groups: readonly (readonly string[])[]): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-importing-"));
  try {
    const child = spawnSync(
      process.execPath,
      [join(__dirname, "import-everything.cjs"), JSON.stringify(groups)],
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
    const told = JSON.parse(child.output[3] ?? "") as readonly Imported[];
    return { groups: told, output: child.stdout + child.stderr, filesWritten: readdirSync(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts") && !path.endsWith(".d.ts"))
    .map((path) => join(folder, path));
}

describe("importing a module", () => {
  const src = (path: string): string => join(projectRoot, "src", path);
  const everything = sourcesIn(src("."));
  const entries = ["gateway.ts", "gateway-contract.ts", "locks.ts", "main.ts"].map(src).filter(existsSync);
  const program = [src("main.ts")];
  const taskLocks = [src("infrastructure/composition/commands/with-task-locks.ts")];
  const composing = [src("infrastructure/composition/container/constructs.ts")];
  const kinds = sourcesIn(src("infrastructure/locking"))
    .filter((path) => path.endsWith("-lock-kind.ts"))
    .map((path) => [path]);
  const groups: readonly (readonly string[])[] = [
    everything,
    entries,
    program,
    taskLocks,
    composing,
    ...kinds,
  ];
  let outcome: Outcome;
  const loadedBy = (group: readonly string[]) => outcome.groups[groups.indexOf(group)]!.loaded;
  beforeAll(() => {
    outcome = importAll(groups);
  }, 90_000);

  test("has no effect, whichever module it is", () => {
    expect(outcome.groups.map(({ effects }) => effects)).toEqual(groups.map(() => []));
    expect(outcome).toMatchObject({ output: "", filesWritten: [] });
  });

  test("of the published entries loads no client of a store that was not chosen", () => {
    const heavy = /node_modules\/(@google-cloud\/storage|ioredis|pg|stripe|@photostructure\/sqlite)\//;
    expect(loadedBy(entries).filter((path) => heavy.test(path))).toEqual([]);
  });

  test("of the program loads the command line alone: each command brings the rest when it is asked for", () => {
    const loaded = loadedBy(program);
    expect(loaded.some((path) => path.includes("/node_modules/commander/"))).toBe(true);
    const forCommands =
      /node_modules\/(@?inversify(js)?|reflect-metadata|kysely|zod|express|helmet|pino|prom-client|async-mutex)\//;
    expect(loaded.filter((path) => forCommands.test(path))).toEqual([]);
  });

  test("of the locks of a task loads neither the container nor a server's libraries", () => {
    const loaded = loadedBy(taskLocks);
    expect(loaded).toContain(taskLocks[0]);
    const forServers = /node_modules\/(@?inversify(js)?|kysely|zod|express|helmet|pino|prom-client)\//;
    expect(loaded.filter((path) => forServers.test(path))).toEqual([]);
  });

  test("of the helper that composes classes loads reflect-metadata, not only the part that inversify brings", () => {
    const loaded = loadedBy(composing);
    expect(loaded.filter((path) => path.endsWith("/node_modules/reflect-metadata/Reflect.js"))).toHaveLength(
      1,
    );
  });

  test("of the kind of lock that is chosen loads no client, no other kind and no server's libraries", () => {
    expect(kinds.length).toBeGreaterThan(4);
    const others =
      /node_modules\/(@?inversify(js)?|kysely|zod|express|helmet|pino|prom-client|@google-cloud\/storage)\//;
    for (const kind of kinds) {
      const loaded = loadedBy(kind);
      expect(loaded.filter((path) => path.endsWith("-lock-kind.ts"))).toEqual(kind);
      expect(loaded.filter((path) => others.test(path))).toEqual([]);
    }
  });

  test("is caught when it leaves something behind, speaks or writes", () => {
    const planted: readonly (readonly [what: string | null, text: string])[] = [
      ["active handles", "setTimeout(() => undefined, 10);"],
      ["environment", 'process.env["PLANTED"] = "1";'],
      ["process listeners", 'process.on("SIGTERM", () => undefined);'],
      ["globals", "(globalThis as Record<string, unknown>)['planted'] = 1;"],
      [null, 'console.log("planted"); require("node:fs").writeFileSync("planted.txt", "");'],
    ];
    const pathOf = (at: number): string => `src/planted-${at}.ts`;
    const project = plantProject(
      Object.fromEntries(planted.map(([, text], at) => [pathOf(at), `export const here = 1; ${text}`])),
    );
    try {
      const { groups: found, ...rest } = importAll(
        planted.map((_, at) => [join(project.folder, pathOf(at))]),
      );
      expect(found.map(({ effects }) => effects.map(({ what }) => what))).toEqual(
        planted.map(([what]) => (what === null ? [] : [what])),
      );
      expect(rest).toEqual({ output: "planted\n", filesWritten: ["planted.txt"] });
    } finally {
      project.remove();
    }
  });
});
