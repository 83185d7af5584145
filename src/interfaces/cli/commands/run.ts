import { Command, Option } from "commander";
import { performance } from "node:perf_hooks";
import { LockCancelledError, LockError } from "../../../application/ports/lock-errors";
import type { TaskLocks } from "../backend";
import type { CommandContext } from "../cli";
import { exitStatus, statusOf, UsageError } from "../exit-status";
import type { Output } from "../output";
import { RunSignals } from "../run/run-signals";
import { statusOfSignal } from "../run/signals";
import { runCommand } from "../run/supervised-command";
import { cameFromTerminal } from "../run/terminal-signals";
import { WaitingNotice } from "../run/waiting-notice";

/** In characters: enough to recognize a command, and short enough for a line. */
const LONGEST_PURPOSE = 200;

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
      if (command === "") throw new UsageError("the command needs a name");
      const configured = context.configured();
      const signals = new RunSignals(cameFromTerminal);
      try {
        await configured.withTaskLocks((locks) =>
          runTask(context, locks, signals, task, [command, ...args], options),
        );
      } finally {
        signals.close();
      }
    });
}

async function runTask(
  context: CommandContext,
  locks: TaskLocks,
  signals: RunSignals,
  task: string,
  [command = "", ...args]: readonly string[],
  { onLost }: RunOptions,
): Promise<void> {
  const resourceId = `task:${task}`;
  const output = context.output();
  const notice = waitingNotice(output);
  try {
    const status = await locks.provider.withLock(
      resourceId,
      async (hold) => {
        // No command starts without its lock, not even one that may go on without it.
        hold.assertHeld();
        try {
          return await runCommand({
            command,
            args,
            environment: {
              HOLDFAST_LOCK_KEY: resourceId,
              HOLDFAST_FENCING_TOKEN: hold.fencingToken.toString(),
            },
            inheritedFd: locks.inheritableFd(resourceId),
            started: (child) => signals.running(child),
            nameChild: (pid) => locks.nameChild(resourceId, pid),
            lost: hold.signal,
            onLost,
            say: (line) => output.error(line),
          });
        } finally {
          signals.leaving();
        }
      },
      {
        scope: "task",
        purpose: [command, ...args].join(" ").slice(0, LONGEST_PURPOSE),
        signal: signals.stop,
        observer: notice,
      },
    );
    context.end(status);
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    output.failure(error);
    const { stoppedBy } = signals;
    const stopped = error instanceof LockCancelledError && stoppedBy !== undefined;
    context.end(stopped ? statusOfSignal(stoppedBy) : (statusOf(error) ?? exitStatus.failed));
  } finally {
    notice.end();
  }
}

function waitingNotice(output: Output): WaitingNotice {
  // Opened before the command starts: opening makes a pipe non-blocking for all who share it, starting a command undoes
  // that, and a command that inherits a non-blocking stderr fails in the middle of a long line. For the same reason
  // nothing here touches `process.stdin`.
  const { stderr } = process;
  const rewritable = stderr.isTTY && process.env["TERM"] !== "dumb";
  return new WaitingNotice({
    write: (text) => void (output.isQuiet || stderr.write(text)),
    columns: () => (rewritable ? stderr.columns : 0),
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    after: (ms, callback) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
}
