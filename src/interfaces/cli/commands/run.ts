import { Command, Option } from "commander";
import { budgets } from "../../../application/operations/budgets";
import { LockCancelledError, LockError, LockUnavailableError } from "../../../application/ports/lock-errors";
import type { TaskLocks } from "../backend";
import type { CommandContext } from "../cli";
import { exitStatus, statusOf, UsageError } from "../exit-status";
import { GroupWitness } from "../run/group-witness";
import { RunSignals } from "../run/run-signals";
import { statusOfSignal, type PassedOnSignal } from "../run/signals";
import { runCommand } from "../run/supervised-command";
import { noticeOnStderr } from "../notice-on-stderr";

/** Signals are passed on to the group as long as anything of it lives. */
const never = new AbortController().signal;

/** What a service that answers needs to strike a waiter off. */
const FAREWELL_MS = 500;

/** In characters: enough to recognize a command, and short enough for a line. */
const LONGEST_PURPOSE = 200;

interface RunOptions {
  readonly onLost: "kill" | "continue";
  readonly killGroup?: boolean;
  readonly waitDescendants?: boolean;
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
    .option(
      "--kill-group",
      "signals reach everything the command started, and nothing of it outlives the command",
    )
    .option("--wait-descendants", "keep the lock until everything the command started has ended")
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
        "  130, 143 stopped by SIGINT, SIGTERM while waiting (after SIGINT by that signal itself, as shells expect)",
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
      const signals = new RunSignals();
      try {
        await configured.withTaskLocks(
          task,
          (locks) => runTask(context, locks, signals, task, [command, ...args], options),
          (line) => context.output().error(line),
          signals.enough,
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
  { onLost, killGroup = false, waitDescendants = false }: RunOptions,
): Promise<void> {
  const resourceId = `task:${task}`;
  const output = context.output();
  const notice = noticeOnStderr(output);
  try {
    const end = await locks.provider.withLock(
      resourceId,
      async (hold) => {
        // No command starts without its lock, not even one that may go on without it.
        hold.assertHeld();
        // In a group of its own the command hears nothing but what we pass on.
        const witness = killGroup ? undefined : new GroupWitness();
        const commandHears = async (signal: PassedOnSignal) => (await witness?.wasSentToAll(signal)) ?? false;
        try {
          return await runCommand({
            command,
            args,
            environment: {
              HOLDFAST_LOCK_KEY: resourceId,
              HOLDFAST_FENCING_TOKEN: hold.fencingToken.toString(),
            },
            inheritedFd: locks.inheritableFd(resourceId),
            started: (started) => signals.running(started, commandHears),
            waitingForDescendants: () => (killGroup ? never : signals.waiting()),
            nameChild: (pid) => locks.nameChild(resourceId, pid),
            hold,
            onLost,
            killGroup,
            waitDescendants,
            endingMs: budgets.endingMs,
            say: (line) => output.error(line),
          });
        } finally {
          witness?.close();
          // There is nothing left to give back.
          if (hold.signal.aborted) signals.hurry();
        }
      },
      {
        scope: "task",
        purpose: [command, ...args].join(" ").slice(0, LONGEST_PURPOSE),
        signal: signals.stop,
        observer: notice,
      },
    );
    const { stoppedBy } = signals;
    if (stoppedBy === undefined) context.end(end.status, end.signal);
    else context.end(statusOfSignal(stoppedBy), stoppedBy);
  } catch (error) {
    if (!(error instanceof LockError)) throw error;
    // Whoever reads it in the mail of a job has not typed the command.
    output.failure(error, error instanceof LockUnavailableError ? `; the locks are ${locks.where}` : "");
    const { stoppedBy } = signals;
    // Who does not answer a claim does not answer a farewell, and who has been stopped has no time for one.
    if (error instanceof LockUnavailableError) signals.hurry();
    if (error instanceof LockCancelledError) signals.hurry(FAREWELL_MS);
    if (error instanceof LockCancelledError && stoppedBy !== undefined)
      context.end(statusOfSignal(stoppedBy), stoppedBy);
    else context.end(statusOf(error) ?? exitStatus.failed);
  } finally {
    signals.leaving();
    notice.end();
  }
}
