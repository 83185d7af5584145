import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { LockHold } from "../../../application/ports/lock-provider";
import { exitStatus } from "../exit-status";
import type { Signalled } from "./run-signals";
import { statusOfSignal } from "./signals";
import { endInTime } from "./end-in-time";

const NOT_FOUND = 127;
const NOT_EXECUTABLE = 126;
/** How often a group that was asked to end is looked at. */
const LOOK_EVERY_MS = 50;

export interface CommandToRun {
  readonly command: string;
  readonly args: readonly string[];
  /** Beside the environment of this process; what is undefined is left out of that. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A descriptor whose lock the command keeps alive, should this process be killed. */
  readonly inheritedFd: number | undefined;
  /** Called at once, before anything else can happen: from here on there is somebody to pass signals to. */
  readonly started: (command: Signalled) => void;
  /** The command has ended, and what it left behind is waited for until this signal fires; its reason says why. */
  readonly waitingForDescendants: () => AbortSignal;
  /** Writes down that the command keeps the lock alive. */
  readonly nameChild: (pid: number) => Promise<void>;
  readonly hold: Pick<LockHold, "signal" | "aloneForMs">;
  readonly onLost: "kill" | "continue";
  /** What is sent to the command goes to everything that it started, and nothing of that outlives it. */
  readonly killGroup: boolean;
  /** The command is over when everything that it started is. */
  readonly waitDescendants: boolean;
  /** What a command is given to end by itself. */
  readonly endingMs: number;
  readonly say: (line: string) => void;
  /** Called once if the command cannot be started. */
  readonly refused: (error: CannotStartError) => void;
}

export class CannotStartError extends Error {
  override readonly name = "CannotStartError";

  constructor(
    command: string,
    readonly code: "command_not_found" | "command_not_executable",
    reason: string,
  ) {
    super(`cannot start ${command}: ${reason}`);
  }
}

export interface CommandEnd {
  readonly status: number;
  /** What the command died of. */
  readonly signal: NodeJS.Signals | null;
}

/** Runs a command in the foreground, as if it had been called without us. */
export async function runCommand(run: CommandToRun): Promise<CommandEnd> {
  let child: ChildProcess;
  try {
    child = start(run);
  } catch (error) {
    // What is neither missing nor forbidden (too long a list of arguments, no directory on the way) is thrown at once.
    return refusal(run, error as NodeJS.ErrnoException);
  }
  const command = run.killGroup ? groupOf(child) : child;
  run.started(command);
  const ended = endOf(child, run);
  const ending = endInTime(command, run);
  // The command runs, whatever becomes of the note about it.
  if (child.pid !== undefined)
    run.nameChild(child.pid).catch((error: Error) => {
      run.say(
        `cannot record the command in its lock (${error.message}); it runs under the lock nevertheless`,
      );
    });
  try {
    const end = await ended;
    if (run.waitDescendants) await everythingItStarted(child, run);
    return ending.isAsked ? { status: exitStatus.lockLost, signal: null } : end;
  } finally {
    if (run.killGroup) await endTheRest(command, run.endingMs);
    ending.stop();
  }
}

function start({ command, args, environment, inheritedFd, killGroup, waitDescendants }: CommandToRun) {
  const lock = inheritedFd === undefined ? [] : [inheritedFd];
  // The pipe is open as long as any process has it that the command started.
  const more = waitDescendants ? ([inheritedFd ?? "ignore", "pipe"] as const) : lock;
  return spawn(command, args, {
    stdio: ["inherit", "inherit", "inherit", ...more],
    env: { ...process.env, ...environment },
    detached: killGroup,
  });
}

function groupOf(child: ChildProcess): Signalled {
  return {
    kill: (signal) => {
      try {
        return child.pid !== undefined && process.kill(-child.pid, signal);
      } catch {
        return false;
      }
    },
  };
}

function endOf(child: ChildProcess, run: CommandToRun): Promise<CommandEnd> {
  return new Promise((resolve) => {
    child.once("error", (error: NodeJS.ErrnoException) => {
      if (child.pid === undefined) resolve(refusal(run, error));
    });
    child.once("exit", (code, signal) => {
      resolve({ status: signal === null ? (code ?? exitStatus.failed) : statusOfSignal(signal), signal });
    });
  });
}

/** As shells do it: 127 for what is not there, 126 for what is there and cannot be run. */
function refusal({ command, refused }: CommandToRun, { code, message }: NodeJS.ErrnoException): CommandEnd {
  if (code === "ENOENT") {
    refused(new CannotStartError(command, "command_not_found", "no such command"));
    return { status: NOT_FOUND, signal: null };
  }
  refused(new CannotStartError(command, "command_not_executable", code ?? message));
  return { status: NOT_EXECUTABLE, signal: null };
}

/** Until all are gone, the lock is lost, or somebody says that it is enough. */
async function everythingItStarted(
  child: ChildProcess,
  { hold, waitingForDescendants, killGroup, say }: CommandToRun,
) {
  const pipe = child.stdio[4] as Readable | null;
  if (child.pid === undefined || pipe === null || pipe.closed) return;
  const enough = waitingForDescendants();
  const over = AbortSignal.any([enough, hold.signal]);
  await once(pipe.resume(), "close", { signal: over }).catch(() => {});
  pipe.destroy();
  if (enough.aborted)
    say(
      `${String(enough.reason)} ended the wait for what the command started: ${killGroup ? "ending it" : "it goes on"}`,
    );
}

async function endTheRest(group: Signalled, endingMs: number): Promise<void> {
  if (!group.kill("SIGTERM")) return;
  for (let waitedMs = 0; waitedMs < endingMs; waitedMs += LOOK_EVERY_MS) {
    await pause(LOOK_EVERY_MS);
    if (!group.kill(0)) return;
  }
  group.kill("SIGKILL");
}
