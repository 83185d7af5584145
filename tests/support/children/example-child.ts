import { join } from "node:path";
import type { ChildCommand } from "../../../src/lock-contract";
import { joinedScript } from "../program/joined-script";
import { size } from "../test-size";
import { tsChild } from "./child-command";

const EXAMPLES = join(__dirname, "..", "..", "..", "examples");

/** An example in a process of its own: at full size as its reader starts it, otherwise joined with what it imports. */
export function exampleChild(name: string): ChildCommand {
  const script = join(EXAMPLES, name);
  return size(
    () => tsChild(script),
    () => ({ file: process.execPath, args: [joinedScript(script)], env: {} }),
  )();
}
