import { spawn, type ChildProcess } from "node:child_process";
import type { PassedOnSignal } from "./signals";

/** How much later than we the witness may be seen to die of a signal that both were sent. */
const PATIENCE_MS = 200;

/**
 * Tells whether a signal was sent to this process alone, or to everybody around it: by a terminal's Ctrl-C, by `kill` with
 * a group, by a service manager. The command has got the latter already. No program is told who a signal was sent to, so
 * a process of our group is kept that does nothing but die of what it is sent.
 */
export class GroupWitness {
  private current: Witness | undefined;
  private isOver = false;

  constructor() {
    this.replace();
  }

  /** To be asked in the signal's own listener. False, too, where there is no witness. */
  async wasSentToAll(signal: PassedOnSignal): Promise<boolean> {
    const { current } = this;
    if (current === undefined) return false;
    let timer: NodeJS.Timeout | undefined;
    const patience = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), PATIENCE_MS);
    });
    const diedOf = await Promise.race([current.diedOf, patience]);
    clearTimeout(timer);
    return diedOf === signal;
  }

  close(): void {
    this.isOver = true;
    this.current?.process.kill("SIGKILL");
  }

  private replace(): void {
    const witness = new Witness();
    this.current = witness;
    void witness.diedOf.then((signal) => {
      // One that could not even be started would not be the next time.
      this.current = undefined;
      if (signal !== null && !this.isOver) this.replace();
    });
  }
}

/** Ends with us, too: by the end of its input. */
class Witness {
  readonly process: ChildProcess = spawn("cat", { stdio: ["pipe", "ignore", "ignore"] });
  readonly diedOf = new Promise<NodeJS.Signals | null>((resolve) => {
    this.process.once("exit", (_status, signal) => resolve(signal));
    this.process.once("error", () => resolve(null));
  });
}
