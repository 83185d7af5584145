import { Command } from "commander";
import type { CommandContext } from "../cli";
import { reportPass } from "./report-pass";

export function reconcileCommand(context: CommandContext): Command {
  return new Command("reconcile")
    .description("ask the gateway about each operation whose outcome is due, once; serve does this by itself")
    .addHelpText(
      "after",
      "\nOn SQLite with locks in memory it is refused while a serve has the file; with --lock-timeout it waits\nfor that long first.\n\nExample:\n  $ holdfast reconcile --json\n",
    )
    .action(() => reportPass(context, "reconcile", (store) => store.reconcile()));
}
