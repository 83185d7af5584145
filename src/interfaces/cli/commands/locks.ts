import { Command } from "commander";
import type { Done } from "../../../application/audit/act";
import type { BreakOutcome, InspectedLock } from "../../../application/ports/lock-inspector";
import { describeHolder } from "../../../application/ports/lock-errors";
import type { CommandContext } from "../cli";
import type { LockHolder } from "../../../application/ports/lock-provider";
import { UsageError } from "../exit-status";
import { localAct } from "../local-act";
import { table } from "../output";

/** What was free for less may be taken again at any moment. */
const SWEEP_IDLE_MS = 86_400_000;

export function locksCommand(context: CommandContext): Command {
  const locks = new Command("locks")
    .description("inspect locks: their holders, and who is waiting")
    .addHelpText(
      "after",
      "\nThe locks are those that `run` would use, or those of --locks. `GET /locks` lists those of a running server.\n\nExamples:\n  $ holdfast locks list\n  $ holdfast locks show task:nightly --locks gs://bucket/locks\n",
    );
  locks
    .command("list")
    .description("list all locks")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast locks list\n  $ holdfast locks list --locks gs://bucket/locks --json\n",
    )
    .action(async () => {
      const found = await context.configured().withLockInspector((inspector) => inspector.list());
      context
        .output()
        .result(
          found.map(shown),
          found.length === 0
            ? "no locks"
            : table([
                ["LOCK", "STATE", "HOLDER", "WAITING", "WHERE"],
                ...found.map((lock) => [
                  lock.resourceId,
                  lock.state,
                  holderText(lock),
                  lock.waitingOwnerId ?? "-",
                  lock.where,
                ]),
              ]),
        );
    });
  locks
    .command("show")
    .description("show everything that is known about one lock")
    .argument("<id>", "the lock's full id, e.g. task:nightly")
    .addHelpText("after", "\nExample:\n  $ holdfast locks show task:nightly\n")
    .action(async (id: string) => {
      const lock = await context.configured().withLockInspector((inspector) => inspector.show(id));
      if (lock === null) {
        context.output().result(null, `${id} is free, and nothing is recorded about it`);
        return;
      }
      const facts = shown(lock);
      context
        .output()
        .result(
          facts,
          table(
            Object.entries(facts).map(([name, value]) => [
              name,
              typeof value === "string" ? value : JSON.stringify(value),
            ]),
          ),
        );
    });
  locks
    .command("break")
    .description("take a lock away from a holder that you know to be gone; writes an audit line")
    .argument("<id>", "the lock's full id, e.g. task:nightly")
    .requiredOption(
      "--if-held-by <ownerId>",
      "the holder's id, from `locks show`; the lock of any other holder is left alone",
    )
    .addHelpText(
      "after",
      "\nIf that holder is still alive, two processes then hold the lock.\n\nExample:\n  $ holdfast locks break task:nightly --if-held-by web-2:4711:9f0c\n",
    )
    .action(async (id: string, { ifHeldBy }: { ifHeldBy: string }) => {
      const outcome = await context.configured().withLockInspector(async (inspector) => {
        const lock = await inspector.show(id);
        const isHeld = lock !== null && lock.state !== "free" && lock.holder?.ownerId === ifHeldBy;
        // Before: a break of which there is no entry could be one that ended in between.
        if (isHeld) await note(context, { kind: "lock.breaking", subject: id, details: { ifHeldBy } });
        return inspector.break(id, ifHeldBy);
      });
      if (outcome.outcome === "broken")
        await note(context, { kind: "lock.broken", subject: id, details: { ifHeldBy } });
      tellBreak(context, id, outcome);
    });
  locks
    .command("sweep")
    .description("remove the records of leases that have been free for a day")
    .addHelpText("after", "\nExample:\n  $ holdfast locks sweep --locks gs://bucket/locks\n")
    .action(async () => {
      const swept = await context
        .configured()
        .withLockInspector((inspector) => inspector.sweep(SWEEP_IDLE_MS));
      context.output().result({ swept }, swept.length === 0 ? "nothing to sweep" : swept.join("\n"));
    });
  return locks;
}

/** Locks have no transaction with the store, and are broken when it does not answer, too: the audit line is beside them. */
async function note(context: CommandContext, done: Done): Promise<void> {
  try {
    await context.configured().noteAct(localAct(context.reason()), done);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context
      .output()
      .warn(
        `the store's audit has no entry ${done.kind} (${why}); the lock's own audit line is written all the same`,
      );
  }
}

/** The lock is as it was. */
class NotBrokenError extends Error {
  override readonly name = "NotBrokenError";
  readonly code = "refused";

  constructor(
    readonly resourceId: string,
    readonly outcome: Exclude<BreakOutcome["outcome"], "broken">,
    message: string,
    readonly holder?: LockHolder,
  ) {
    super(message);
  }
}

function tellBreak(context: CommandContext, id: string, outcome: BreakOutcome): void {
  const output = context.output();
  switch (outcome.outcome) {
    case "broken":
      output.result(outcome.audit, `broke ${id}, which was held by ${outcome.audit.ownerId}`);
      output.note(
        "if that holder is still alive, it believes that it has the lock until its next check: a lease is checked when it is " +
          "renewed (every 10 s with the built-in settings), a file within 2 s",
      );
      return;
    case "not_held":
      throw new NotBrokenError(id, outcome.outcome, `${id} is not held: there is nothing to break`);
    case "held_by_another": {
      const { holder } = outcome.lock;
      const words = `${id} is held by ${holder?.ownerId ?? "another owner"} now: nothing was changed`;
      throw new NotBrokenError(id, outcome.outcome, words, holder);
    }
    case "busy":
      throw new NotBrokenError(
        id,
        outcome.outcome,
        `${id} is changing hands at this moment: look again with holdfast locks show`,
      );
    case "end_the_processes": {
      const { processes, holder } = outcome.lock;
      const who = processes === undefined ? describeHolder(holder) : `process ${processes.join(", ")}`;
      throw new UsageError(`the lock ${id} ends only with the processes that hold it: end ${who}`);
    }
  }
}

function holderText({ holder, state }: InspectedLock): string {
  if (holder === undefined) return "-";
  return state === "free" ? `last ${describeHolder(holder)}` : describeHolder(holder);
}

/** JSON has no bigint. */
function shown(lock: InspectedLock) {
  const { fencingToken, ...rest } = lock;
  return { ...rest, ...(fencingToken === undefined ? {} : { fencingToken: fencingToken.toString() }) };
}
