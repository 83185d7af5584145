import { Command, Option } from "commander";
import { performance } from "node:perf_hooks";
import { LockCancelledError, LockError } from "../../../application/ports/lock-errors";
import type { LockHold } from "../../../application/ports/lock-provider";
import type { TaskLocks } from "../backend";
import type { CommandContext } from "../cli";
import { exitStatus, statusOf, UsageError } from "../exit-status";
import { statusOfSignal } from "../run/signals";
import { runCommand } from "../run/supervised-command";
import { WaitingNotice } from "../run/waiting-notice";

interface RunOptions {
  readonly onLost: "kill" | "continue";
}

export function runCommandOnce(context: CommandContext): Command {
  return new Command("run")
    .description("run a command while holding the lock of a task; its exit status is passed on")
    .argument("<task>", "the name that at most one command holds at a time")
    .argument("<command...>", "what to run, after --")
    .addOption(
      new Option("--on-lost <what>", "what becomes of the command when the lock is lost")
        .choices(["kill", "continue"])
        .default("kill"),
    )
    .addHelpText(
      "after",
      [
        "",
        "The command gets HOLDFAST_LOCK_KEY and HOLDFAST_FENCING_TOKEN. Its stdin, stdout and stderr are ours.",
        "Without --locks, locks are files in $XDG_STATE_HOME/holdfast/locks (default ~/.local/state).",
        "",
        "Exit status: the command's own (128 + n for a signal), or",
        "  64 usage   69 backend unavailable   75 lock timeout   76 another already waits (leases, --lock-timeout 0)",
        "  78 bad configuration   79 lock lost   126 cannot be executed   127 no such command",
        "  130, 143 stopped by SIGINT, SIGTERM while waiting",
        "",
        "Examples:",
        "  $ holdfast run nightly-settlement -- ./settle.sh",
        "  $ holdfast run deploy --lock-timeout 60 -- make deploy",
        "  $ holdfast run report --locks gs://my-bucket/locks -- ./report.sh",
        "",
      ].join("\n"),
    )
    .action(async (task: string, [command = "", ...args]: string[], options: RunOptions) => {
      if (task === "") throw new UsageError("the task needs a name");
      await context
        .configured()
        .withTaskLocks((locks) => runTask(context, locks, task, [command, ...args], options));
    });
}

async function runTask(
  context: CommandContext,
  locks: TaskLocks,
  task: string,
  [command = "", ...args]: readonly string[],
  { onLost }: RunOptions,
): Promise<void> {
  const resourceId = `task:${task}`;
  const output = context.output();
  const notice = new WaitingNotice({
    write: (text) => void (output.isQuiet || process.stderr.write(text)),
    columns: () => (process.stderr.isTTY ? process.stderr.columns : 0),
    nowMs: () => performance.now(),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
  const wait = stopOnSignal();
  try {
    const status = await locks.provider.withLock(
      resourceId,
      (hold) => {
        wait.over();
        return runCommand({
          command,
          args,
          environment: {
            HOLDFAST_LOCK_KEY: resourceId,
            HOLDFAST_FENCING_TOKEN: hold.fencingToken.toString(),
          },
          inheritedFd: locks.inheritableFd(resourceId),
          started: (pid) => locks.nameChild(resourceId, pid),
          lost: lostSignal(hold),
          onLost,
          onTerminal: process.stdin.isTTY || process.stderr.isTTY,
          say: (line) => output.error(line),
        });
      },
      {
        scope: "task",
        purpose: [command, ...args].join(" ").slice(0, 200),
        signal: wait.signal,
        observer: notice,
      },
    );
    context.end(status);
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    output.failure(error);
    const stopped = error instanceof LockCancelledError && wait.stoppedBy !== undefined;
    context.end(stopped ? statusOfSignal(wait.stoppedBy) : (statusOf(error) ?? exitStatus.failed));
  } finally {
    wait.over();
    notice.end();
  }
}

/** Read once, before the command starts: a hold makes its signal when it is first asked for. */
function lostSignal(hold: LockHold): AbortSignal {
  return hold.signal;
}

/** While we wait, a signal ends the wait; once the command runs, signals are the command's. */
function stopOnSignal() {
  const stopping = new AbortController();
  const state: { stoppedBy: "SIGINT" | "SIGTERM" | "SIGHUP" | undefined } = { stoppedBy: undefined };
  const removers = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map((signal) => {
    const stop = () => {
      state.stoppedBy ??= signal;
      stopping.abort();
    };
    process.on(signal, stop);
    return () => process.off(signal, stop);
  });
  return {
    signal: stopping.signal,
    get stoppedBy() {
      return state.stoppedBy;
    },
    over: () => {
      for (const remove of removers) remove();
    },
  };
}
