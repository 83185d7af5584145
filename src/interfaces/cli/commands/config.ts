import { Command } from "commander";
import type { CommandContext } from "../cli";
import { table } from "../output";

export function configCommand(context: CommandContext): Command {
  return new Command("config")
    .description("print each effective setting and where it comes from")
    .addHelpText("after", "\nExamples:\n  $ holdfast config\n  $ HOLDFAST_PORT=9000 holdfast config --json\n")
    .action(() => {
      const entries = context.configured().entries();
      context
        .output()
        .result(
          entries,
          table(entries.map(({ name, value, source }) => [name, value ?? "-", `(${source})`])),
        );
    });
}
