import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { plantProject, projectRoot, type PlantedProject } from "./planted-project";
import { describeAtFullSize } from "../support/servers/servers";

interface FileReport {
  readonly filePath: string;
  readonly messages: readonly { readonly ruleId: string | null }[];
}

/** One mistake that could cost money or truth per rule, each as a file that compiles. What follows a colon is words. */
const broken: Record<string, { path: string; text: string }> = {
  "@typescript-eslint/no-floating-promises": {
    path: "src/domain/forgets-to-wait.ts",
    text: "export function settle(save: () => Promise<void>): void { save(); }",
  },
  "@typescript-eslint/no-misused-promises": {
    path: "src/domain/waits-where-nobody-does.ts",
    text: "export const each = (all: number[], save: (n: number) => Promise<void>): void => all.forEach(async (n) => save(n));",
  },
  "@typescript-eslint/switch-exhaustiveness-check": {
    path: "src/domain/forgets-a-status.ts",
    text: 'export function f(s: "captured" | "unknown"): number { switch (s) { case "captured": return 1; } return 0; }',
  },
  "@typescript-eslint/no-explicit-any": {
    path: "src/domain/believes-anything.ts",
    text: "export const amount = (body: any): number => Number(body);",
  },
  "@typescript-eslint/consistent-type-imports": {
    path: "src/domain/loads-for-a-type.ts",
    text: 'import { Stats } from "node:fs"; export type S = Stats;',
  },
  "@typescript-eslint/no-unused-vars": {
    path: "src/domain/keeps-what-nobody-needs.ts",
    text: "const unused = 1; export const used = 2;",
  },
  "@typescript-eslint/return-await": {
    path: "src/domain/leaves-the-try-too-early.ts",
    text: "export async function f(g: () => Promise<void>): Promise<void> { try { return g(); } catch { return; } }",
  },
  "no-restricted-properties": {
    path: "src/application/reads-the-clock.ts",
    text: "export const due = (): number => Date.now() + 5_000;",
  },
  "no-restricted-globals": {
    path: "src/domain/asks-its-surroundings.ts",
    text: 'export const unsafe = (): boolean => process.env["UNSAFE"] === "1";',
  },
  "no-restricted-globals: Intl in the domain": {
    path: "src/domain/counts-as-the-platform-does.ts",
    text: 'export const known = (code: string): boolean => Intl.supportedValuesOf("currency").includes(code);',
  },
  "no-restricted-globals: Intl elsewhere": {
    path: "src/interfaces/writes-as-the-platform-does.ts",
    text: 'export const written = new Intl.NumberFormat("en", { style: "currency", currency: "HUF" });',
  },
  "no-restricted-syntax": {
    path: "src/infrastructure/decorates-itself.ts",
    text: "declare const injectable: ClassDecorator; @injectable export class Adapter {}",
  },
  "no-console": {
    path: "src/infrastructure/talks-to-the-terminal.ts",
    text: "export const shout = (): void => { console.log(1); };",
  },
};

const allowed: Record<string, string> = {
  "src/infrastructure/composition/decorates-from-outside.ts":
    "declare const injectable: ClassDecorator; export class Wired {} injectable(Wired);",
  "src/domain/is-fine.ts": "export const captured = (cents: bigint): string => `captured ${String(cents)}`;",
};

/** No rule asks for them, and to read them takes longer than all that is planted. */
const withoutTypesOfPackages = readFileSync(join(projectRoot, "tsconfig.json"), "utf8").replace(
  /"types": \[.*\]/,
  '"types": []',
);

describeAtFullSize("lint rules", () => {
  let project: PlantedProject;
  let reports: Map<string, readonly (string | null)[]>;

  beforeAll(() => {
    const files = Object.fromEntries(Object.values(broken).map(({ path, text }) => [path, text]));
    project = plantProject({ ...allowed, ...files, "tsconfig.json": withoutTypesOfPackages });
    const eslint = join(projectRoot, "node_modules/eslint/bin/eslint.js");
    const linted = spawnSync(process.execPath, [eslint, "--format", "json", "src"], {
      cwd: project.folder,
      encoding: "utf8",
    });
    const all = JSON.parse(linted.stdout) as FileReport[];
    reports = new Map(
      all.map((file) => [
        file.filePath.slice(file.filePath.indexOf("/src/") + 1),
        file.messages.map((m) => m.ruleId),
      ]),
    );
  }, 60_000);

  afterAll(() => project.remove());

  test.each(Object.entries(broken))("a planted violation of the lint rule %s is caught", (rule, { path }) => {
    expect(reports.get(path)).toContain(rule.split(":")[0]);
  });

  test.each(Object.keys(allowed))("%s is not reported", (path) => {
    expect(reports.get(path)).toEqual([]);
  });
});
