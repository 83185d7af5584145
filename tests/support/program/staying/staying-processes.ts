import { fork, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { END, StayingCommand } from "./staying-command";

/** Processes that do one thing after the other, as many as there is to do at the same time. */
export class StayingProcesses {
  private readonly idle: ChildProcess[] = [];

  /** `script` is beside this file, and ends what it is told to do as `StayingCommand` has it. */
  constructor(private readonly script: "command-process.cjs" | "script-process.cjs") {}

  /** `args` and `cwd` are the process's own, and always the same; `order` is what it is told. */
  start(order: object, args: readonly string[] = [], cwd?: string): StayingCommand {
    const child = this.another() ?? this.started(args, cwd);
    return new StayingCommand(child, order, () => this.idle.push(child));
  }

  end(): void {
    for (const child of this.idle.splice(0)) child.kill("SIGKILL");
  }

  /** One may have been sent a signal that came after its command. */
  private another(): ChildProcess | undefined {
    const child = this.idle.pop();
    return child === undefined || child.connected ? child : this.another();
  }

  private started(args: readonly string[], cwd: string | undefined): ChildProcess {
    const child = fork(join(__dirname, this.script), [END, ...args], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      detached: true,
      cwd,
    });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8");
    return child;
  }
}
