import { Command } from "commander";
import type { CommandContext } from "../cli";
import { reportPass } from "./report-pass";

export function expireCommand(context: CommandContext): Command {
  return new Command("expire")
    .description("expire lapsed authorizations and release their money, once; serve does this continuously")
    .addHelpText(
      "after",
      "\nWith SQLite and locks in memory, it is refused while a server uses the file; with --lock-timeout it waits\nthat long first.\n\nExample:\n  $ holdfast expire --json\n",
    )
    .action(() => reportPass(context, "expire", (store) => store.expire()));
}
