import { Command } from "commander";
import type { CommandContext } from "../cli";
import { noticeOnStderr } from "../notice-on-stderr";

export function migrateCommand(context: CommandContext): Command {
  return new Command("migrate")
    .description("migrate an existing store to this version's schema; serve does the same when it starts")
    .addHelpText("after", "\nExample:\n  $ holdfast migrate --store sqlite:./data/holdfast.db\n")
    .action(async () => {
      const notice = noticeOnStderr(context.output());
      const { from, to } = await context.configured().migrate(notice);
      const text =
        from === to ? `the store is at schema version ${to}` : `migrated the store from ${from} to ${to}`;
      context.output().result({ from, to }, text);
    });
}
