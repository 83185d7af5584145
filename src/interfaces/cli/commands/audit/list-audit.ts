import { Command } from "commander";
import type { CommandContext } from "../../cli";
import { ServerClient } from "../../client/server-client";
import { table } from "../../output";

interface WireEntry {
  readonly at: string;
  readonly kind: string;
  readonly actor:
    | { readonly type: "api_key"; readonly id: string }
    | { readonly type: "user"; readonly name: string }
    | { readonly type: "anyone" };
  readonly origin:
    | { readonly over: "http"; readonly address: string | null }
    | { readonly over: "command"; readonly host: string };
  readonly reason: string | null;
  readonly subject: string;
}

/** `audit`: what people did by hand, on a running server, with an operator's key. */
export function auditCommand(context: CommandContext): Command {
  return new Command("audit")
    .description("list what people did by hand, newest first: verdicts, keys, locks, webhooks")
    .option("--from <time>", "ISO 8601 with an offset or Z; inclusive")
    .option("--to <time>", "ISO 8601 with an offset or Z; exclusive")
    .option("--actor <id>", "the id of an API key, or the name of a user")
    .option("--kind <kind>", "what was done, e.g. review.resolved")
    .option("--payment <id>", "what was decided about this payment")
    .option("--limit <number>", "1 to 100; default: 20")
    .option("--cursor <cursor>", "the cursor that the previous page printed")
    .addHelpText(
      "after",
      "\nExamples:\n  $ holdfast audit --kind review.overridden\n  $ holdfast audit --from 2026-03-01T00:00:00Z --json\n",
    )
    .action(async ({ payment, ...query }: Record<string, string | undefined>) => {
      const server = new ServerClient(context.configured().server());
      const { body } = await server.get("/audit", { ...query, paymentId: payment });
      const { data, nextCursor } = body as { data: readonly WireEntry[]; nextCursor: string | null };
      const output = context.output();
      output.result(body, data.length === 0 ? "no entries" : listed(data));
      if (nextCursor !== null) output.note(`there are more entries: continue with --cursor ${nextCursor}`);
    });
}

function listed(entries: readonly WireEntry[]): string {
  return table([
    ["TIME", "WHO", "FROM", "WHAT", "TO WHAT", "WHY"],
    ...entries.map(({ at, actor, origin, kind, subject, reason }) => [
      at,
      actor.type === "api_key" ? `key ${actor.id}` : actor.type === "user" ? actor.name : "anyone",
      origin.over === "http" ? (origin.address ?? "-") : origin.host,
      kind,
      subject,
      reason ?? "-",
    ]),
  ]);
}
