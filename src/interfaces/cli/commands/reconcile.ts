import { Command } from "commander";
import type { CommandContext } from "../cli";
import { reportPass } from "./report-pass";

export function reconcileCommand(context: CommandContext): Command {
  return new Command("reconcile")
    .description(
      "ask the gateway about each operation whose outcome is open, once; serve does this continuously",
    )
    .addHelpText(
      "after",
      "\nWith SQLite and locks in memory, it is refused while a server uses the file; with --lock-timeout it waits\nthat long first.\n\nExample:\n  $ holdfast reconcile --json\n",
    )
    .action(() => reportPass(context, "reconcile", (store) => store.reconcile()));
}
