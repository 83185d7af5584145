import type { ChildCommand } from "../../../src/lock-contract";

/** Runs a TypeScript file of the tests in a process of its own; `script` is its absolute path. */
export function tsChild(script: string, env: NodeJS.ProcessEnv = {}): ChildCommand {
  return { file: process.execPath, args: ["-r", require.resolve("esbuild-register"), script], env };
}
