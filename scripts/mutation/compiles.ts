import { readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";
import type { Mutant } from "./switch-mutants";

/**
 * Those that the compiler would not let through. Asked about those only that no test found, and about all of them at once: each
 * is a file of its own beside the one that it is a mutant of, because what takes time is to begin, not to check a file.
 */
export function refusedByCompiler<M extends Mutant>(
  root: string,
  mutants: readonly M[],
): ReadonlySet<number> {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), (path) => ts.sys.readFile(path));
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: ["src"] }, ts.sys, root);
  const texts = new Map<string, string>();
  const idOf = new Map<string, number>();
  for (const mutant of mutants) {
    const path = join(root, mutant.file).replace(/\.ts$/, `.mutant${mutant.id}.ts`);
    texts.set(path, textOf(root, mutant));
    idOf.set(path, mutant.id);
  }
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.getSourceFile = (path, ...more) => {
    const text = texts.get(path);
    return text === undefined
      ? getSourceFile.call(host, path, ...more)
      : ts.createSourceFile(path, text, options.target ?? ts.ScriptTarget.ES2023, true);
  };
  host.fileExists = (path) => texts.has(path) || fileExists.call(host, path);
  host.readFile = (path) => texts.get(path) ?? readFile.call(host, path);
  const program = ts.createProgram([...texts.keys()], { ...options, noEmit: true }, host);
  const refused = [...idOf].filter(([path]) => {
    const file = program.getSourceFile(path);
    return [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)].length > 0;
  });
  return new Set(refused.map(([, id]) => id));
}

function textOf(root: string, { file, start, end, replacement, kind }: Mutant): string {
  const source = readFileSync(join(root, file), "utf8");
  // A case that is left out leaves its label; that compiles wherever the next one does.
  if (kind === "case") return source;
  const isStatement = kind === "block" || kind === "statement";
  return source.slice(0, start) + (isStatement ? replacement : `(${replacement})`) + source.slice(end);
}
