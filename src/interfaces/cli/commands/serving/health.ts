import { Command } from "commander";
import type { CommandContext } from "../../cli";
import { ServerClient } from "../../client/server-client";

/** `health`: for those who start a server and wait for it, or watch over it: containers, deployments, people. */
export function healthCommand(context: CommandContext): Command {
  return new Command("health")
    .description("say whether a running server can serve requests, and which dependency is down if not")
    .addHelpText(
      "after",
      "\nEnds with 0 if it can, and with 69 if it cannot or does not answer.\n\nExamples:\n  $ holdfast health\n" +
        "  $ holdfast health --url http://127.0.0.1:9000 --quiet\n",
    )
    .action(async () => {
      const server = new ServerClient(context.configured().server());
      const { body } = await server.get("/readyz");
      const { dependencies } = body as { dependencies: Readonly<Record<string, string>> };
      const up = Object.keys(dependencies);
      context.output().result(body, up.length === 0 ? "ready" : `ready: ${up.join(", ")} up`);
    });
}
