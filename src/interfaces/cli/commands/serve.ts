import { Command } from "commander";
import type { CommandContext } from "../cli";

export function serveCommand(context: CommandContext): Command {
  return new Command("serve")
    .description("answer the HTTP API, and reconcile and expire in the background")
    .addHelpText(
      "after",
      [
        "",
        "Without any API key it answers everybody as merchant `default` with operator rights, and listens on loopback",
        "only. SIGTERM and SIGINT let requests finish; a second one ends it at once.",
        "",
        "Examples:",
        "  $ holdfast serve",
        "  $ holdfast serve --port 9000 --store sqlite:/var/lib/holdfast/holdfast.db",
        "",
      ].join("\n"),
    )
    .action(async () => {
      const output = context.output();
      await context.configured().serve((line) => {
        output.note(line);
      });
    });
}
