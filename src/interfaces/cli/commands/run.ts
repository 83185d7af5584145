import { Command, Option } from "commander";
import { slotName } from "../../../application/locking/slots";
import { budgets } from "../../../application/time-budgets";
import { LockCancelledError, LockError, LockUnavailableError } from "../../../application/ports/lock-errors";
import type { TaskLocks } from "../backend";
import type { CommandContext } from "../cli";
import { exitStatus, statusOf, UsageError } from "../exit-status";
import { parseAtLeastFor, stayForTheRest } from "../run/at-least-for";
import { parseSlots } from "../run/slots";
import { GroupWitness } from "../run/group-witness";
import { RunSignals } from "../run/run-signals";
import { statusOfSignal, type PassedOnSignal } from "../run/signals";
import { runCommand } from "../run/run-command";
import { noticeOnStderr } from "../notice-on-stderr";

/** What a service that answers needs to strike a waiter off. */
const FAREWELL_MS = 500;

/** In characters: enough to recognize a command, and short enough for a line. */
const LONGEST_PURPOSE = 200;

interface RunOptions {
  readonly onLost: "kill" | "continue";
  readonly killGroup?: boolean;
  readonly waitDescendants?: boolean;
  readonly atLeastFor?: string;
  readonly slots?: string;
}

/** What the lock is asked for. */
interface Wanted {
  readonly lockAtLeastFor: number;
  readonly permits: number | undefined;
}

export function runCommandOnce(context: CommandContext): Command {
  return new Command("run")
    .description("run a command while holding a task's lock; the command's exit status is passed on")
    .argument(
      "<task>",
      "the task's name; at most one command runs under it at a time, or as many as --slots says",
    )
    .argument("<command...>", "the command to run, after --")
    .addOption(
      new Option("--on-lost <what>", "what to do with the command if the lock is lost")
        .choices(["kill", "continue"])
        .default("kill"),
    )
    .option(
      "--kill-group",
      "send signals to every process that the command started, and end those that outlive it",
    )
    .option("--wait-descendants", "keep the lock until every process that the command started has ended")
    .option(
      "--at-least-for <duration>",
      "keep the lock for this long (90, 90s, 10m, 2h) from its acquisition on, even if the command ends earlier",
    )
    .option(
      "--slots <number>",
      "let this many commands run under the task at a time; every run of the task has to give the same number",
    )
    .addHelpText(
      "after",
      [
        "",
        "The command's environment has HOLDFAST_LOCK_KEY and HOLDFAST_FENCING_TOKEN, with --slots also HOLDFAST_SLOT (1, 2, …).",
        "It inherits stdin, stdout and stderr.",
        "Without --locks, the locks are files in $XDG_STATE_HOME/holdfast/locks ($XDG_STATE_HOME defaults to ~/.local/state).",
        "",
        "Exit status: the command's own (128 + n for a signal), or",
        "  64 usage   69 backend unavailable   75 lock timeout   76 another process is already waiting (leases, --lock-timeout 0)",
        "  78 bad configuration, or another number of --slots than that of a run that is under way   79 lock lost   126 cannot be executed   127 no such command",
        "  130, 143 stopped by SIGINT, SIGTERM while waiting (after SIGINT by that signal itself, as shells expect)",
        "",
        "Examples:",
        "  $ holdfast run nightly-settlement -- ./settle.sh",
        "  $ holdfast run deploy --lock-timeout 60 -- make deploy",
        "  $ holdfast run mail --at-least-for 10m -- ./mail.sh    (once, although cron starts it on several hosts)",
        "  $ holdfast run encode --slots 4 --lock-timeout infinite -- ./encode.sh    (four at a time, over all hosts)",
        "  $ holdfast run report --locks gs://my-bucket/locks -- ./report.sh",
        "",
      ].join("\n"),
    )
    .action(async (task: string, [command = "", ...args]: string[], options: RunOptions) => {
      if (task === "") throw new UsageError("the name of the task is empty");
      if (command === "") throw new UsageError("the name of the command is empty");
      const wanted = {
        lockAtLeastFor: parseAtLeastFor(options.atLeastFor ?? "0"),
        permits: parseSlots(options.slots),
      };
      const configured = context.configured();
      const signals = new RunSignals();
      try {
        await configured.withTaskLocks(
          task,
          (locks) => runTask(context, locks, signals, task, [command, ...args], options, wanted),
          (line) => context.output().warn(line),
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
  { lockAtLeastFor, permits }: Wanted,
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
        const { slot } = hold;
        const lockName = slot === undefined ? resourceId : slotName(resourceId, slot);
        const untilMs = performance.now() + lockAtLeastFor;
        // In a group of its own the command hears nothing but what we pass on.
        const witness = killGroup ? undefined : new GroupWitness();
        const commandHears = async (signal: PassedOnSignal) => (await witness?.wasSentToAll(signal)) ?? false;
        try {
          const ended = await runCommand({
            command,
            args,
            environment: {
              HOLDFAST_LOCK_KEY: resourceId,
              HOLDFAST_FENCING_TOKEN: hold.fencingToken.toString(),
              // A command without slots inside of one with slots is in none.
              HOLDFAST_SLOT: slot === undefined ? undefined : String(slot),
            },
            inheritedFd: locks.inheritableFd(lockName),
            started: (started) => signals.running(started, commandHears),
            waitingForDescendants: () => signals.linger(),
            nameChild: (pid) => locks.nameChild(lockName, pid),
            hold,
            onLost,
            killGroup,
            waitDescendants,
            endingMs: budgets.endingMs,
            say: (line) => output.warn(line),
            refused: (error) => output.failure(error),
          });
          if (!locks.keptWithoutUs)
            await stayForTheRest({
              untilMs,
              hold,
              lingering: () => signals.linger(),
              say: (line) => output.warn(line),
            });
          return ended;
        } finally {
          witness?.close();
          // There is nothing left to give back.
          if (hold.signal.aborted) signals.hurry();
        }
      },
      {
        scope: "task",
        ...(permits !== undefined && { permits }),
        purpose: [command, ...args].join(" ").slice(0, LONGEST_PURPOSE),
        signal: signals.stop,
        lockAtLeastFor: locks.keptWithoutUs ? lockAtLeastFor : 0,
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
    // Who does not answer a claim does not answer a farewell either; and whose time is over has no more of it than that.
    signals.hurry(error instanceof LockUnavailableError ? 0 : FAREWELL_MS);
    if (error instanceof LockCancelledError && stoppedBy !== undefined)
      context.end(statusOfSignal(stoppedBy), stoppedBy);
    else context.end(statusOf(error) ?? exitStatus.failed);
  } finally {
    signals.leaving();
    notice.end();
  }
}
