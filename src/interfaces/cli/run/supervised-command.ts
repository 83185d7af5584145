import { spawn, type ChildProcess } from "node:child_process";
import { exitStatus } from "../exit-status";
import { statusOfSignal } from "./signals";

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
  /** Called at once, before anything else can happen: from here on there is somebody to pass signals to. */
  readonly started: (child: ChildProcess) => void;
  /** Writes down that the command keeps the lock alive. */
  readonly nameChild: (pid: number) => Promise<void>;
  /** Fires when the lock is lost. */
  readonly lost: AbortSignal;
  readonly onLost: "kill" | "continue";
  readonly say: (line: string) => void;
}

/** Runs a command in the foreground, as if it had been called without us. Resolves with the exit status. */
export async function runCommand(run: CommandToRun): Promise<number> {
  let child: ChildProcess;
  try {
    child = start(run);
  } catch (error) {
    // What is neither missing nor forbidden (too long a list of arguments, no directory on the way) is thrown at once.
    return refusal(run, error as NodeJS.ErrnoException);
  }
  run.started(child);
  const ended = endOf(child, run);
  const stopWatching = endWhenLost(child, run);
  // The command runs, whatever becomes of the note about it.
  if (child.pid !== undefined)
    run.nameChild(child.pid).catch((error: Error) => {
      run.say(`cannot note the command in its lock (${error.message}); it runs under the lock all the same`);
    });
  try {
    const status = await ended;
    return run.lost.aborted && run.onLost === "kill" ? exitStatus.lockLost : status;
  } finally {
    stopWatching();
  }
}

function start({ command, args, environment, inheritedFd }: CommandToRun): ChildProcess {
  return spawn(command, args, {
    stdio: ["inherit", "inherit", "inherit", ...(inheritedFd === undefined ? [] : [inheritedFd])],
    env: { ...process.env, ...environment },
  });
}

function endOf(child: ChildProcess, run: CommandToRun): Promise<number> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(refusal(run, error));
    });
    child.once("exit", (code, signal) => {
      resolve(signal === null ? (code ?? exitStatus.failed) : statusOfSignal(signal));
    });
  });
}

/** As shells do it: 127 for what is not there, 126 for what is there and cannot be run. */
function refusal({ command, say }: CommandToRun, { code, message }: NodeJS.ErrnoException): number {
  const isMissing = code === "ENOENT";
  say(`cannot start ${command}: ${isMissing ? "no such command" : (code ?? message)}`);
  return isMissing ? NOT_FOUND : NOT_EXECUTABLE;
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
