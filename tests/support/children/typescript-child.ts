import { join } from "node:path";

/** How to run a script of these tests as a process of its own. */
export function typescriptChild(script: string, ...args: string[]): { file: string; args: string[] } {
  const register = require.resolve("esbuild-register");
  return { file: process.execPath, args: ["-r", register, join(__dirname, script), ...args] };
}
