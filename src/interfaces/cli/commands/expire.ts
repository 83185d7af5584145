import { Command } from "commander";
import type { CommandContext } from "../cli";
import { reportPass } from "./report-pass";

export function expireCommand(context: CommandContext): Command {
  return new Command("expire")
    .description("expire lapsed authorizations and release their money, once; serve does this by itself")
    .addHelpText(
      "after",
      "\nNo serve may run on the same SQLite file at the same time.\n\nExample:\n  $ holdfast expire --json\n",
    )
    .action(() => reportPass(context, "expired", (store) => store.expire()));
}
