import { join } from "node:path";
import { joinedScript } from "../program/joined-script";

/** How to run a script of these tests as a process of its own. */
export function typescriptChild(script: string, ...args: string[]): { file: string; args: string[] } {
  return { file: process.execPath, args: [joinedScript(join(__dirname, script)), ...args] };
}
