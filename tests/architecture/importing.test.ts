import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { builtProgram } from "../support/program/built-program";
import { plantProject } from "./planted-project";

interface Imported {
  readonly effects: readonly { readonly file: string; readonly what: string }[];
  readonly loaded: readonly string[];
}

interface Outcome {
  readonly groups: readonly Imported[];
  readonly output: string;
  readonly filesWritten: readonly string[];
}

/** Each group as if by itself; all of them in one process, since starting one takes longer than most groups. */
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

/** As they are published, beside the one file that the command line is. */
function modulesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".js") && path !== "holdfast.js")
    .map((path) => join(folder, path));
}

describe("importing a module", () => {
  let groups: Readonly<Record<"everything" | "entries" | "program" | "taskLocks" | "composing", string[]>>;
  let kinds: readonly string[];
  let outcome: Outcome;
  const loadedBy = (group: keyof typeof groups) => outcome.groups[Object.keys(groups).indexOf(group)]!.loaded;
  const loadedByKinds = () => outcome.groups.slice(-kinds.length).map(({ loaded }) => loaded);
  beforeAll(async () => {
    const built = dirname(await builtProgram());
    const those = (...paths: string[]): string[] => paths.map((path) => join(built, path));
    groups = {
      everything: modulesIn(built),
      entries: those("gateway.js", "gateway-contract.js", "locks.js", "main.js").filter(existsSync),
      program: those("main.js"),
      taskLocks: those("infrastructure/composition/commands/with-task-locks.js"),
      composing: those("infrastructure/composition/container/constructs.js"),
    };
    kinds = groups.everything.filter((path) => path.endsWith("-lock-kind.js"));
    outcome = importAll([...Object.values(groups), ...kinds.map((kind) => [kind])]);
  }, 120_000);

  test("has no effect, whichever module it is", () => {
    expect(outcome.groups.map(({ effects }) => effects)).toEqual(outcome.groups.map(() => []));
    expect(outcome).toMatchObject({ output: "", filesWritten: [] });
  });

  test("of the published entries loads no client of a store that was not chosen", () => {
    const heavy = /node_modules\/(@google-cloud\/storage|ioredis|pg|stripe|@photostructure\/sqlite)\//;
    expect(loadedBy("entries").filter((path) => heavy.test(path))).toEqual([]);
  });

  test("of the program loads the command line alone: each command brings the rest when it is asked for", () => {
    const loaded = loadedBy("program");
    expect(loaded.some((path) => path.includes("/node_modules/commander/"))).toBe(true);
    const forCommands =
      /node_modules\/(@?inversify(js)?|reflect-metadata|kysely|zod|express|helmet|pino|prom-client|async-mutex)\//;
    expect(loaded.filter((path) => forCommands.test(path))).toEqual([]);
  });

  test("of the locks of a task loads neither the container nor a server's libraries", () => {
    const loaded = loadedBy("taskLocks");
    expect(loaded).toContain(groups.taskLocks[0]);
    const forServers = /node_modules\/(@?inversify(js)?|kysely|zod|express|helmet|pino|prom-client)\//;
    expect(loaded.filter((path) => forServers.test(path))).toEqual([]);
  });

  test("of the helper that composes classes loads reflect-metadata, not only the part that inversify brings", () => {
    const loaded = loadedBy("composing");
    expect(loaded.filter((path) => path.endsWith("/node_modules/reflect-metadata/Reflect.js"))).toHaveLength(
      1,
    );
  });

  test("of the kind of lock that is chosen loads no client, no other kind and no server's libraries", () => {
    expect(kinds.length).toBeGreaterThan(4);
    const others =
      /node_modules\/(@?inversify(js)?|kysely|zod|express|helmet|pino|prom-client|@google-cloud\/storage)\//;
    for (const [at, loaded] of loadedByKinds().entries()) {
      expect(loaded.filter((path) => path.endsWith("-lock-kind.js"))).toEqual([kinds[at]]);
      expect(loaded.filter((path) => others.test(path))).toEqual([]);
    }
  });

  test("is caught when it leaves something behind, speaks or writes", () => {
    const planted: readonly (readonly [what: string | null, text: string])[] = [
      ["active handles", "setTimeout(() => undefined, 10);"],
      ["environment", 'process.env["PLANTED"] = "1";'],
      ["process listeners", 'process.on("SIGTERM", () => undefined);'],
      ["globals", "globalThis.planted = 1;"],
      [null, 'console.log("planted"); require("node:fs").writeFileSync("planted.txt", "");'],
    ];
    const pathOf = (at: number): string => `src/planted-${at}.js`;
    const project = plantProject(Object.fromEntries(planted.map(([, text], at) => [pathOf(at), text])));
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
