import type { ChildProcess } from "node:child_process";
import { RunningProgram, type Ended } from "../running-program";

/** Comes after all that a command has written; no command writes it. */
export const END = "\u0004";

/** Less than the time for which a stopping server goes on serving, unless it is told otherwise. */
const STOPPING_MS = 500;

/** A command that is run by a process which has run others before, and may run others after it. */
export class StayingCommand extends RunningProgram {
  private isKilled = false;

  /** `stays` is called when the process is there for the next one. */
  constructor(child: ChildProcess, order: object, stays: () => void) {
    super(child);
    const { stdout, stderr } = child;
    let status: number | undefined;
    const unfinished = new Set([stdout, stderr]);
    const look = (): void => {
      // One that ends when it is killed leaves no process to the next.
      if (status === undefined || unfinished.size > 0 || this.isKilled) return;
      stop();
      stays();
      this.ends(status, null);
    };
    const stop = (): void => {
      for (const name of ["message", "close"]) child.removeAllListeners(name);
      for (const stream of [stdout, stderr]) stream?.removeAllListeners("data");
    };
    const hear = (stream: typeof stdout, tell: (text: string) => void): void =>
      void stream?.on("data", (text: string) => {
        tell(text.replace(END, ""));
        if (text.includes(END)) unfinished.delete(stream);
        look();
      });
    hear(stdout, (text) => this.prints(text));
    hear(stderr, (text) => this.says(text));
    child.once("message", (ended: { readonly status: number }) => {
      ({ status } = ended);
      look();
    });
    // A defect ends a process, here as there; so does the signal that a command is killed by, or ends itself with.
    child.once("close", (left: number | null, signal: NodeJS.Signals | null) => {
      stop();
      this.ends(left, signal);
    });
    child.send(order);
  }

  override signal(signal: NodeJS.Signals): void {
    this.isKilled ||= signal === "SIGKILL";
    super.signal(signal);
  }

  /** Its process stays, if the command ends when it is asked to. */
  override async stop(): Promise<Ended> {
    const late = setTimeout(() => this.signal("SIGKILL"), STOPPING_MS);
    try {
      return await this.end("SIGTERM");
    } finally {
      clearTimeout(late);
    }
  }
}
