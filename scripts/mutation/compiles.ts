import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import type { Mutant } from "./switch-mutants";

/** Whether the compiler would let a mutant through. Asked about those only that no test found. */
export function compilerOf(root: string): (mutant: Mutant) => boolean {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
  const { options, fileNames } = ts.parseJsonConfigFileContent({ ...config, include: ["src"] }, ts.sys, root);
  const changed = new Map<string, { readonly text: string; readonly version: number }>();
  let version = 0;
  const textOf = (path: string): string | undefined => changed.get(path)?.text ?? ts.sys.readFile(path);
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => fileNames,
    getScriptVersion: (path) => String(changed.get(path)?.version ?? 0),
    getScriptSnapshot: (path) => {
      const text = textOf(path);
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text);
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: (libOptions) => ts.getDefaultLibFilePath(libOptions),
    fileExists: (path) => ts.sys.fileExists(path),
    readFile: textOf,
  });
  return ({ file, start, end, replacement, kind }) => {
    const path = join(root, file);
    const source = readFileSync(path, "utf8");
    // A case that is left out leaves its label; that compiles wherever the next one does.
    if (kind === "case") return true;
    version += 1;
    changed.set(path, { text: `${source.slice(0, start)}(${replacement})${source.slice(end)}`, version });
    if (kind === "block" || kind === "statement")
      changed.set(path, { text: source.slice(0, start) + replacement + source.slice(end), version });
    const found = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)];
    version += 1;
    changed.set(path, { text: source, version });
    return found.length === 0;
  };
}
