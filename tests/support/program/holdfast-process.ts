import { spawn } from "node:child_process";
import { RunningProgram } from "./running-program";

export type { Ended } from "./running-program";

interface StartOptions {
  /** The working folder: `holdfast.toml` and `./data` are looked for there. */
  readonly cwd: string;
  readonly env?: NodeJS.ProcessEnv;
  /** What stdin brings before it ends; without it, stdin is empty. */
  readonly stdin?: string;
}

/** Nothing else of this process's environment reaches the program but what it takes to run at all. */
export function environmentOf(cwd: string, env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"], HOME: cwd, ...env };
}

/** The program in a process of its own, which does not outlive this process. */
export class HoldfastProcess extends RunningProgram {
  /** `args` begin with the script, as for `node`. */
  constructor(args: readonly string[], { cwd, env, stdin: input }: StartOptions) {
    const child = spawn(process.execPath, args, {
      cwd,
      env: environmentOf(cwd, env),
      // Without a terminal, even if the tests were started on one: there, a signal may come from it.
      detached: true,
      stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
    });
    super(child);
    const { stdin, stdout, stderr } = child;
    stdin?.end(input);
    if (stdout === null || stderr === null) throw new Error("pipes were asked for");
    stdout.setEncoding("utf8").on("data", (text: string) => this.prints(text));
    stderr.setEncoding("utf8").on("data", (text: string) => this.says(text));
    const killWithUs = (): void => void child.kill("SIGKILL");
    process.once("exit", killWithUs);
    child.once("close", (status: number | null, signal: NodeJS.Signals | null) => {
      process.removeListener("exit", killWithUs);
      this.ends(status, signal);
    });
  }
}
