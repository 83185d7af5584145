import { fork, type ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { join } from "node:path";
import { END, StayingCommand } from "./staying-command";

/** Those of this worker that wait for something to do, by what runs its commands there. This module stays loaded for all test files. */
const waiting = new Map<string, ChildProcess[]>();
/** Where a process has served. */
const servedIn = new WeakMap<ChildProcess, Set<string>>();

/** What a command is told. */
export interface Order {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Processes that run one command after the other, as many as there are at the same time. They end with this process. */
export class StayingProcesses {
  private readonly idle: ChildProcess[];

  /** `program` is the main file of what is run. */
  constructor(private readonly program: string) {
    this.idle = waiting.get(program) ?? [];
    waiting.set(program, this.idle);
  }

  start(order: Order): StayingCommand {
    const child = this.another(order) ?? this.started();
    keepsThisProcess(child, true);
    if (isServer(order)) servedIn.get(child)?.add(order.cwd);
    return new StayingCommand(child, order, () => {
      keepsThisProcess(child, false);
      this.idle.push(child);
    });
  }

  /** A server that is started again in its folder may remember nothing: it gets another process. */
  private another(order: Order): ChildProcess | undefined {
    const isFresh = (child: ChildProcess) => !isServer(order) || !servedIn.get(child)?.has(order.cwd);
    const at = this.idle.findLastIndex((child) => child.connected && isFresh(child));
    return at < 0 ? undefined : this.idle.splice(at, 1)[0];
  }

  private started(): ChildProcess {
    const child = fork(join(__dirname, "command-process.cjs"), [END, this.program], {
      stdio: ["ignore", "pipe", "pipe", "ipc"],
      execArgv: [],
      detached: true,
    });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding("utf8");
    servedIn.set(child, new Set());
    return child;
  }
}

const isServer = ({ args }: Order) => args[0] === "serve";

/** A worker ends when nothing keeps it; then the channel closes, and with it the process that waits at its other end. */
function keepsThisProcess(child: ChildProcess, isBusy: boolean): void {
  for (const handle of [child, child.channel, child.stdout as Socket, child.stderr as Socket])
    if (isBusy) handle?.ref();
    else handle?.unref();
}
