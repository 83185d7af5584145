import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import type { PassedOnSignal } from "./signals";

/** How much later than we the witness may be seen to die of a signal that both were sent. */
const PATIENCE_MS = 200;
/** The same where the kernel already shows that it dies: on a busy machine that takes its time. */
const DYING_MS = 5_000;
/** How much earlier it may be seen: the next witness is started in between, which takes its time on a busy machine. */
const AHEAD_MS = 5_000;

/**
 * Tells whether a signal was sent to this process alone, or to everybody around it: by a terminal's Ctrl-C, by `kill` with
 * a group, by a service manager. The command has got the latter already. No program is told who a signal was sent to, so
 * a process of our group is kept that does nothing but die of what it is sent.
 */
export class GroupWitness {
  private current: Witness | undefined;
  /**
   * When witnesses were seen to die of signals that nobody has asked about yet: a process of several threads is given
   * those that are pending in any order, its child's end among them.
   */
  private readonly early = new Map<NodeJS.Signals, number>();
  private isOver = false;

  constructor() {
    this.replace();
  }

  /** To be asked in the signal's own listener. False, too, where there is no witness. */
  async wasSentToAll(signal: PassedOnSignal): Promise<boolean> {
    const { current } = this;
    if (this.wasEarly(signal)) return true;
    if (current === undefined) return false;
    let diedOf = await within(PATIENCE_MS, current.diedOf);
    if (diedOf === undefined && current.isDying(signal)) diedOf = await within(DYING_MS, current.diedOf);
    if (diedOf === signal) this.early.delete(signal);
    return diedOf === signal;
  }

  private wasEarly(signal: PassedOnSignal): boolean {
    const atMs = this.early.get(signal);
    this.early.delete(signal);
    return atMs !== undefined && performance.now() - atMs < AHEAD_MS;
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
      if (signal !== null) this.early.set(signal, performance.now());
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

  /** Sent the signal, and not gone yet; or gone, and we have not heard. Only Linux shows it. */
  isDying(signal: PassedOnSignal): boolean {
    try {
      const status = readFileSync(`/proc/${this.process.pid}/status`, "latin1");
      const bit = 1n << BigInt(constants.signals[signal] - 1);
      const pending = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)$/gm)];
      return /^State:\s*[ZX]/m.test(status) || pending.some(([, set]) => (BigInt(`0x${set}`) & bit) !== 0n);
    } catch {
      return false;
    }
  }
}

/** Undefined if it has not settled by then. */
async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  const settled = await Promise.race([promise, late]);
  clearTimeout(timer);
  return settled;
}
