import { ChildProcess, fork } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { END, StayingCommand } from "./staying-command";

/** Those of this worker that wait for something to do. Test files share nothing but what is built in. */
const ofWorker = ChildProcess as { waiting?: Map<string, ChildProcess[]> };

/**
 * Processes that do one thing after the other, as many as there is to do at the same time. They end with this process, or
 * with `end`.
 */
export class StayingProcesses {
  private readonly idle: ChildProcess[];

  /** `script` is beside this file, and ends what it is told to do as `StayingCommand` has it; `args` and `cwd` are its own. */
  constructor(
    private readonly script: "command-process.cjs" | "script-process.cjs",
    private readonly args: readonly string[] = [],
    private readonly cwd?: string,
  ) {
    ofWorker.waiting ??= new Map();
    const key = JSON.stringify([script, args, cwd]);
    this.idle = ofWorker.waiting.get(key) ?? [];
    ofWorker.waiting.set(key, this.idle);
  }

  /** `order` is what it is told. */
  start(order: object): StayingCommand {
    const child = this.another() ?? this.started();
    keepsThisProcess(child, true);
    return new StayingCommand(child, order, () => {
      keepsThisProcess(child, false);
      this.idle.push(child);
    });
  }

  end(): void {
    for (const child of this.idle.splice(0)) child.kill("SIGKILL");
  }

  /** One may have been sent a signal that came after its command. */
  private another(): ChildProcess | undefined {
    const child = this.idle.pop();
    return child === undefined || child.connected ? child : this.another();
  }

  private started(): ChildProcess {
    const child = fork(join(__dirname, this.script), [END, ...this.args], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      detached: true,
      cwd: this.cwd,
    });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8");
    return child;
  }
}

/** A worker ends when nothing keeps it; then the channel closes, and with it the process that waits at its other end. */
function keepsThisProcess(child: ChildProcess, isBusy: boolean): void {
  for (const handle of [child, child.channel, child.stdout as Socket, child.stderr as Socket])
    if (isBusy) handle?.ref();
    else handle?.unref();
}
