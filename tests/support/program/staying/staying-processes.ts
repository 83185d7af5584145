import { fork, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { END, StayingCommand } from "./staying-command";

/** Those of this worker that wait for something to do, by what runs its commands there. This module stays loaded for all test files. */
const waiting = new Map<string, ChildProcess[]>();

/** Processes that run one command after the other, as many as there are at the same time. They end with this process. */
export class StayingProcesses {
  private readonly idle: ChildProcess[];

  /** `program` is the main file of what is run. */
  constructor(private readonly program: string) {
    this.idle = waiting.get(program) ?? [];
    waiting.set(program, this.idle);
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

  /** One may have been sent a signal that came after its command. */
  private another(): ChildProcess | undefined {
    const child = this.idle.pop();
    return child === undefined || child.connected ? child : this.another();
  }

  private started(): ChildProcess {
    const child = fork(join(__dirname, "command-process.cjs"), [END, this.program], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      detached: true,
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
