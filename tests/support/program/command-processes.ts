import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import type { Ended, StartOptions } from "./holdfast-process";

const script = join(__dirname, "command-process.cjs");

/** Processes that have the program loaded and run one command after the other, as many as run at the same time. */
export class CommandProcesses {
  private readonly idle: ChildProcess[] = [];

  /** `main` is the program's file. */
  async run(main: string, args: readonly string[], { cwd, env }: StartOptions): Promise<Ended> {
    const child = this.idle.pop() ?? started(main);
    let printed = "";
    let complaints = "";
    child.stdout?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (complaints += chunk.toString()));
    try {
      return await new Promise<Ended>((resolve) => {
        child.once("message", (ended: Omit<Ended, "signal">) => {
          this.idle.push(child);
          resolve({ ...ended, stderr: ended.stderr.replace(/\n$/, ""), signal: null });
        });
        // A defect ends a process, here as there.
        child.once("close", (status, signal) => {
          resolve({ status, signal, stdout: printed, stderr: complaints.replace(/\n$/, "") });
        });
        child.send({ args, cwd, env: { PATH: process.env["PATH"], HOME: cwd, ...env } });
      });
    } finally {
      for (const name of ["message", "close"]) child.removeAllListeners(name);
      for (const stream of [child.stdout, child.stderr]) stream?.removeAllListeners("data");
    }
  }

  end(): void {
    for (const child of this.idle.splice(0)) child.kill("SIGKILL");
  }
}

function started(main: string): ChildProcess {
  return fork(script, [main], { stdio: ["ignore", "pipe", "pipe", "ipc"], execArgv: [], detached: true });
}
