import { spawn, type ChildProcess } from "node:child_process";
import { exitStatus } from "../exit-status";
import { passedOn, statusOfSignal, type PassedOnSignal } from "./signals";

/** Between asking a command to end because its lock is lost, and ending it. */
const KILL_AFTER_MS = 5_000;
const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;

export interface CommandToRun {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the environment of this process. */
  readonly environment: Readonly<Record<string, string>>;
  /** A descriptor whose lock the command keeps alive, should this process be killed. */
  readonly inheritedFd: number | undefined;
  readonly started: (pid: number) => Promise<void>;
  /** Fires when the lock is lost. */
  readonly lost: AbortSignal;
  readonly onLost: "kill" | "continue";
  /** A terminal sends its Ctrl-C to the command itself; passing it on would be a second one. */
  readonly onTerminal: boolean;
  readonly say: (line: string) => void;
}

/** Runs a command in the foreground, as if it had been called without us. Resolves with the exit status. */
export async function runCommand(run: CommandToRun): Promise<number> {
  const { command, args, environment, inheritedFd } = run;
  const child = spawn(command, args, {
    stdio: ["inherit", "inherit", "inherit", ...(inheritedFd === undefined ? [] : [inheritedFd])],
    env: { ...process.env, ...environment },
  });
  const ended = endOf(child, command, run.say);
  const stopPassing = passSignals(child, run.onTerminal);
  const stopWatching = endWhenLost(child, run);
  try {
    if (child.pid !== undefined) await run.started(child.pid);
    const status = await ended;
    return run.lost.aborted && run.onLost === "kill" ? exitStatus.lockLost : status;
  } finally {
    stopWatching();
    stopPassing();
  }
}

function endOf(child: ChildProcess, command: string, say: (line: string) => void): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (child.pid !== undefined) return;
      say(
        `cannot start ${command}: ${error.code === "ENOENT" ? "no such command" : (error.code ?? error.message)}`,
      );
      resolve(error.code === "ENOENT" ? NOT_FOUND : NOT_EXECUTABLE);
    });
    child.once("exit", (code, signal) => {
      resolve(signal === null ? (code ?? exitStatus.failed) : statusOfSignal(signal));
    });
  });
}

function passSignals(child: ChildProcess, onTerminal: boolean): () => void {
  const listeners = passedOn.map((signal) => {
    const pass = () => {
      if (!(onTerminal && fromTerminal(signal))) child.kill(signal);
    };
    process.on(signal, pass);
    return () => process.off(signal, pass);
  });
  return () => {
    for (const remove of listeners) remove();
  };
}

function fromTerminal(signal: PassedOnSignal): boolean {
  return signal === "SIGINT" || signal === "SIGQUIT";
}

function endWhenLost(child: ChildProcess, { lost, onLost, say }: CommandToRun): () => void {
  let timer: NodeJS.Timeout | undefined;
  const act = () => {
    if (onLost === "continue") {
      say(`the lock is lost (${String(lost.reason)}); the command goes on without it`);
      return;
    }
    say(`the lock is lost (${String(lost.reason)}); ending the command`);
    child.kill("SIGTERM");
    timer = setTimeout(() => child.kill("SIGKILL"), KILL_AFTER_MS);
  };
  if (lost.aborted) act();
  else lost.addEventListener("abort", act, { once: true });
  return () => {
    lost.removeEventListener("abort", act);
    clearTimeout(timer);
  };
}
