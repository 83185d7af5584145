import { readFileSync } from "node:fs";
import { join } from "node:path";
import { projectRoot } from "./planted-project";

interface LockEntry {
  readonly resolved?: string;
  readonly integrity?: string;
  readonly hasInstallScript?: boolean;
  readonly optionalDependencies?: Record<string, string>;
}
type Packages = Record<string, LockEntry>;

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(projectRoot, name), "utf8")) as T;
}

/** Optional entries that a lock file names and does not hold: `npm ci` then fails on the platform that wants them. */
function unresolvedOptionals(packages: Packages): string[] {
  return Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter((name) => !placesToLook(path, name).some((place) => place in packages))
      .map((name) => `${path} wants ${name}`),
  );
}

/** Node's own order: beside the package that asks, then beside each of its parents. */
function placesToLook(path: string, name: string): string[] {
  const parents = path.split("/node_modules/");
  const inside = parents.map(
    (_, n) => `${parents.slice(0, n + 1).join("/node_modules/")}/node_modules/${name}`,
  );
  return [...(path === "" ? [] : inside), `node_modules/${name}`];
}

const manifest = readJson<{
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  allowScripts: Record<string, boolean>;
}>("package.json");
const { packages } = readJson<{ packages: Packages }>("package-lock.json");
const nameOf = (path: string): string =>
  path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length);

describe("dependencies", () => {
  test("are pinned to one version each", () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies });
    expect(versions.filter(([, version]) => !/^(npm:[@/\w-]+@)?\d+\.\d+\.\d+$/.test(version))).toEqual([]);
  });

  test("come from whichever registry is configured: the lock file names no host, and has each one's checksum", () => {
    const installed = Object.entries(packages).filter(([path]) => path !== "");
    expect(installed.filter(([, entry]) => entry.resolved !== undefined)).toEqual([]);
    expect(installed.filter(([, entry]) => entry.integrity === undefined).map(([path]) => path)).toEqual([]);
  });

  test("are complete in the lock file for every platform", () => {
    expect(unresolvedOptionals(packages)).toEqual([]);
  });

  test("that are missing in a lock file are noticed, and those beside a parent are found", () => {
    const found = { "node_modules/a": { optionalDependencies: { b: "1", c: "1" } }, "node_modules/b": {} };
    expect(unresolvedOptionals(found)).toEqual(["node_modules/a wants c"]);
    expect(unresolvedOptionals({ ...found, "node_modules/a/node_modules/c": {} })).toEqual([]);
  });

  test("that bring an install script are known, and none is allowed to run", () => {
    const scripted = Object.entries(packages).filter(([, entry]) => entry.hasInstallScript === true);
    expect(scripted.map(([path]) => nameOf(path)).sort()).toEqual(Object.keys(manifest.allowScripts).sort());
    expect(Object.values(manifest.allowScripts)).not.toContain(true);
  });
});
