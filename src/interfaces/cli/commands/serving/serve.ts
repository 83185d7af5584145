import { Command } from "commander";
import type { CommandContext } from "../../cli";

export function serveCommand(context: CommandContext): Command {
  return new Command("serve")
    .description("serve the HTTP API, and reconcile and expire payments in the background")
    .addHelpText(
      "after",
      [
        "",
        "Until the first API key exists, every caller acts as merchant `default` with operator rights, and the server",
        "listens on loopback only. After SIGTERM or SIGINT, requests may finish; a second signal ends the server at once.",
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
