import { Command } from "commander";
import type { BreakOutcome, InspectedLock } from "../../../application/ports/lock-inspector";
import { describeHolder } from "../../../application/ports/lock-errors";
import type { CommandContext } from "../cli";
import { exitStatus, UsageError } from "../exit-status";
import { table } from "../output";

/** What was free for less may be taken again at any moment. */
const SWEEP_IDLE_MS = 86_400_000;

export function locksCommand(context: CommandContext): Command {
  const locks = new Command("locks")
    .description("look at locks from outside: who holds what, and who waits")
    .addHelpText(
      "after",
      "\nThe locks are those that `run` would use, or those of --locks. `GET /locks` tells those of a running server.\n\nExamples:\n  $ holdfast locks list\n  $ holdfast locks show task:nightly --locks gs://bucket/locks\n",
    );
  locks
    .command("list")
    .description("all locks there are")
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
    .description("one lock, with everything that is known of it")
    .argument("<id>", "the lock's whole id, e.g. task:nightly")
    .addHelpText("after", "\nExample:\n  $ holdfast locks show task:nightly\n")
    .action(async (id: string) => {
      const lock = await context.configured().withLockInspector((inspector) => inspector.show(id));
      if (lock === null) {
        context.output().result(null, `${id} is free, and there is no trace of it`);
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
    .description("take a lock away from a holder that you know to be gone; leaves an audit line")
    .argument("<id>", "the lock's whole id, e.g. task:nightly")
    .requiredOption(
      "--if-held-by <ownerId>",
      "the holder's id, as `locks show` tells it: nobody else loses the lock",
    )
    .addHelpText(
      "after",
      "\nIf that holder lives after all, two are inside from then on.\n\nExample:\n  $ holdfast locks break task:nightly --if-held-by web-2:4711:9f0c\n",
    )
    .action(async (id: string, { ifHeldBy }: { ifHeldBy: string }) => {
      const outcome = await context
        .configured()
        .withLockInspector((inspector) => inspector.break(id, ifHeldBy));
      tellBreak(context, id, outcome);
    });
  locks
    .command("sweep")
    .description("remove what is left of leases that nobody has held for a day")
    .addHelpText("after", "\nExample:\n  $ holdfast locks sweep --locks gs://bucket/locks\n")
    .action(async () => {
      const swept = await context
        .configured()
        .withLockInspector((inspector) => inspector.sweep(SWEEP_IDLE_MS));
      context.output().result({ swept }, swept.length === 0 ? "nothing to sweep" : swept.join("\n"));
    });
  return locks;
}

function tellBreak(context: CommandContext, id: string, outcome: BreakOutcome): void {
  const output = context.output();
  switch (outcome.outcome) {
    case "broken":
      output.result(outcome.audit, `broke ${id}, which ${outcome.audit.ownerId} held`);
      output.note(
        "if that holder lives, it believes in its lock until it looks: at a lease when it renews it (every 10 s with the " +
          "built-in settings), at a file within 2 s",
      );
      return;
    case "not_held":
      output.error(`${id} is not held: there is nothing to break`);
      context.end(exitStatus.failed);
      return;
    case "held_by_another":
      output.error(
        `${id} is held by ${outcome.lock.holder?.ownerId ?? "somebody else"} now: nothing was changed`,
      );
      context.end(exitStatus.failed);
      return;
    case "busy":
      output.error(`${id} is changing hands at this moment: look again with holdfast locks show`);
      context.end(exitStatus.failed);
      return;
    case "end_the_processes": {
      const { processes, holder } = outcome.lock;
      const who = processes === undefined ? describeHolder(holder) : `process ${processes.join(", ")}`;
      throw new UsageError(`${id} ends with those who hold it and not before: end ${who}`);
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
