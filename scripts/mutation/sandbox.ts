import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Area } from "./areas";
import { switchMutants, type Mutant } from "./switch-mutants";

const COPIED = [
  "src",
  "tests",
  "examples",
  "scripts",
  "docs",
  "bench",
  "models",
  "package.json",
  "tsconfig.json",
  "tsconfig.build.json",
  "README.md",
];

export interface Sandbox {
  readonly folder: string;
  readonly mutants: readonly (Mutant & { readonly area: string })[];
  remove(): void;
}

/** A copy of the project in which the sources of the areas have switches: no mutant is ever written into the project itself. */
export function makeSandbox(root: string, areas: readonly Area[]): Sandbox {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mutation-"));
  const isCopied = (path: string): boolean => !/\/(node_modules|build|pictures)$/.test(path);
  for (const part of COPIED)
    if (existsSync(join(root, part)))
      cpSync(join(root, part), join(folder, part), { recursive: true, filter: isCopied });
  linkPackages(join(root, "node_modules"), join(folder, "node_modules"));
  const mutants: (Mutant & { area: string })[] = [];
  for (const area of areas)
    for (const file of area.sources.flatMap((source) => sourcesOf(root, source))) {
      if (area.without?.some((part) => file.startsWith(part)) === true) continue;
      const switched = switchMutants(file, readFileSync(join(root, file), "utf8"), mutants.length + 1);
      mutants.push(...switched.mutants.map((mutant) => ({ ...mutant, area: area.name })));
      writeFileSync(join(folder, file), switched.text);
    }
  const scripts = join(folder, "scripts/mutation");
  const config = {
    rootDir: folder,
    roots: ["<rootDir>/tests"],
    testMatch: ["**/*.test.ts"],
    runner: join(scripts, "jest-runner.cjs"),
    testEnvironment: join(scripts, "jest-environment.cjs"),
    runtime: join(scripts, "jest-runtime.cjs"),
    globalSetup: join(folder, "tests/support/jest/global-setup.ts"),
    setupFiles: [join(folder, "tests/support/jest/forget-async-storages.ts")],
    transform: { "\\.ts$": join(scripts, "jest-transform.cjs") },
    cacheDirectory: join(folder, ".jest"),
    reporters: [],
    silent: true,
    clearMocks: true,
    testTimeout: 120_000,
  };
  writeFileSync(join(folder, "jest.mutation.json"), JSON.stringify(config));
  return { folder, mutants, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** Without the cache, in which tests keep what they have built of the sources: those of the copy are others. */
function linkPackages(packages: string, here: string): void {
  mkdirSync(here);
  for (const name of readdirSync(packages))
    if (name !== ".cache") symlinkSync(join(packages, name), join(here, name));
}

function sourcesOf(root: string, source: string): readonly string[] {
  if (statSync(join(root, source)).isFile()) return [source];
  return readdirSync(join(root, source), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => `${source}/${path}`)
    .sort();
}
