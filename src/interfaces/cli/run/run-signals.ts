import { passedOn, type PassedOnSignal } from "./signals";

/** A command that signals can be passed to. */
export interface Signalled {
  /** False if there is nobody left; 0 only asks that. */
  kill(signal: NodeJS.Signals | 0): boolean;
}

type Phase =
  | { readonly is: "waiting" | "lingering" | "leaving" }
  | {
      readonly is: "running";
      readonly command: Signalled;
      readonly commandHears: (signal: PassedOnSignal) => Promise<boolean>;
    };

/** They talk to a command; while there is none, there is nobody to hear them, and nothing to end. */
const forTheCommandAlone: readonly PassedOnSignal[] = ["SIGUSR1", "SIGUSR2"];

/**
 * What a signal means to `run`: before the command runs it ends the wait, then it is the command's, then it ends the wait
 * for what the command left behind, and afterwards the one for a lock service that is slow to take the lock back. A second
 * one ends the process at once. One set of listeners from the first to the last: in between, a signal would end the process by default, with a
 * command that is just being started.
 */
export class RunSignals {
  private phase: Phase = { is: "waiting" };
  private readonly stopping = new AbortController();
  private readonly lingering = new AbortController();
  private readonly hurrying = new AbortController();
  private hurryTimer: NodeJS.Timeout | undefined;
  private readonly removers: readonly (() => void)[];
  /** The first that was meant for us. */
  private first: PassedOnSignal | undefined;
  private passing: Promise<void> = Promise.resolve();

  constructor() {
    this.removers = passedOn.map((signal) => {
      const listener = () => this.hear(signal);
      process.on(signal, listener);
      return () => process.off(signal, listener);
    });
  }

  /** Fires when the wait should end; its reason is the name of the signal that was sent. */
  get stop(): AbortSignal {
    return this.stopping.signal;
  }

  /** Defined once `stop` has fired. */
  get stoppedBy(): PassedOnSignal | undefined {
    return this.stopping.signal.aborted ? this.first : undefined;
  }

  /**
   * To be called in the same run to completion as the start of the command. `commandHears`: this signal was sent to the
   * command, too; a second one would be one too many.
   */
  running(command: Signalled, commandHears: (signal: PassedOnSignal) => Promise<boolean>): void {
    this.phase = { is: "running", command, commandHears };
  }

  /** The command has ended, and what it started has not. As `stop`. */
  linger(): AbortSignal {
    this.phase = { is: "lingering" };
    return this.lingering.signal;
  }

  leaving(): void {
    this.phase = { is: "leaving" };
  }

  /** Fires when the lock service is to be waited for no longer. */
  get enough(): AbortSignal {
    return this.hurrying.signal;
  }

  hurry(inMs = 0): void {
    this.hurryTimer ??= setTimeout(() => this.hurrying.abort(), inMs);
  }

  close(): void {
    clearTimeout(this.hurryTimer);
    for (const remove of this.removers) remove();
  }

  private hear(signal: PassedOnSignal): void {
    const { phase } = this;
    if (phase.is === "running") {
      const hears = phase.commandHears(signal);
      // In the order in which they came.
      this.passing = this.passing.then(async () => void ((await hears) || phase.command.kill(signal)));
      return;
    }
    if (forTheCommandAlone.includes(signal)) return;
    if (this.first === undefined) {
      this.first = signal;
      if (phase.is === "waiting") this.stopping.abort(signal);
      else if (phase.is === "lingering") this.lingering.abort(signal);
      else this.hurrying.abort();
      return;
    }
    this.close();
    process.kill(process.pid, signal);
  }
}
