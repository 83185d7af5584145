import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { HoldfastProcess } from "./holdfast-process";

const esbuild = join(__dirname, "..", "..", "..", "node_modules", ".bin", "esbuild");

/** Native code, files that are served, and packages that import by themselves: they look for things beside themselves. */
const left = [
  "fs-native-extensions",
  "@photostructure/sqlite",
  "swagger-ui-dist",
  "@opentelemetry/exporter-trace-otlp-http",
  "@opentelemetry/sdk-trace-base",
];

/**
 * Puts a program and the packages that it loads into one file of the folder, and keeps what Node compiles of it for the
 * server that these arguments start. Most tests of the program start it for one command: looking for, reading and compiling a thousand files
 * takes two thirds of such a test's time.
 */
export async function joinProgram(entry: string, folder: string, serve: readonly string[]): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const program = join(folder, "program.js");
  await promisify(execFile)(...bundled(entry, program));
  writeFileSync(program, asFunction(readFileSync(program, "utf8")));
  const main = join(folder, "main.cjs");
  copyFileSync(join(__dirname, "joined-main.cjs"), main);
  const server = new HoldfastProcess([main, ...serve], {
    cwd: folder,
    env: { HOLDFAST_TEST_KEEP_COMPILED: "1" },
  });
  await server.url();
  await server.end("SIGTERM");
}

/** The command that puts a program and its packages into one file. */
export function bundled(entry: string, outfile: string): readonly [string, string[]] {
  const options = [
    "--bundle",
    "--platform=node",
    "--log-level=error",
    // The file is read at every start.
    "--minify-whitespace",
    "--legal-comments=none",
    ...left.map((name) => `--external:${name}`),
  ];
  return [esbuild, [entry, ...options, `--outfile=${outfile}`]];
}

/** As Node wraps a module. Code that is compiled by hand cannot import: the importing is passed to it, too. */
export function asFunction(program: string): string {
  const text = program.replace(/^#!/, "//").replaceAll("return await import(", "return await importModule(");
  return `(function (exports, require, module, __filename, __dirname, importModule) {${text}\n})`;
}
