import { Command } from "commander";
import type { CommandContext } from "../cli";
import { amountText, paymentText, type WireOperation, type WirePayment } from "../client/in-words";
import { ServerClient } from "../client/server-client";
import { UsageError } from "../exit-status";
import { table } from "../output";

interface WireReview {
  readonly operationId: string;
  readonly paymentId: string;
  readonly merchant: string;
  readonly kind: string;
  readonly amount: number;
  readonly currency: string;
  readonly reason: string;
  readonly since: string;
  readonly gatewayKey: string;
  readonly authorizationReference: string | null;
}

interface Verdict {
  readonly moved?: boolean;
  readonly notMoved?: boolean;
  readonly evidence: string;
  readonly gatewayReference?: string;
}

/** `review`: what only a person can decide, on a running server, with an operator's key. */
export function reviewCommand(context: CommandContext): Command {
  const review = new Command("review").description(
    "operations whose outcome a person has to decide, on a running server",
  );
  review
    .command("list")
    .description("what waits for a person, oldest first")
    .option("--limit <number>", "1 to 100; default: 20")
    .option("--cursor <cursor>", "where the page before ended")
    .addHelpText("after", "\nExample:\n  $ holdfast review list\n")
    .action(async (query: Record<string, string | undefined>) => {
      const { body } = await new ServerClient(context.configured().server()).get("/reviews", query);
      const { data, nextCursor } = body as { data: readonly WireReview[]; nextCursor: string | null };
      const output = context.output();
      output.result(body, data.length === 0 ? "nothing waits for a person" : listed(data));
      if (nextCursor !== null) output.note(`there are more: --cursor ${nextCursor}`);
    });
  review
    .command("resolve")
    .description("decide whether the money moved; what is decided is believed, and stays in the history")
    .argument("<operation>", "as `review list` shows it")
    .option("--moved", "the gateway did it")
    .option("--not-moved", "the gateway did not do it, and will not")
    .requiredOption("--evidence <text>", "how you know: where you looked, and what was there")
    .option("--gateway-reference <reference>", "what the gateway calls it; needed where it reserved money")
    .addHelpText(
      "after",
      "\nExample:\n  $ holdfast review resolve 019aa2b4-7c05-7b1e-8f10-52c0f4d9a702 --moved \\\n" +
        '      --evidence "the dashboard shows the capture, 12.50 EUR, 12:00:01"\n',
    )
    .action(async (operation: string, { moved, notMoved, evidence, gatewayReference }: Verdict) => {
      if ((moved === true) === (notMoved === true)) throw new UsageError("give --moved or --not-moved");
      const client = new ServerClient(context.configured().server());
      const { body } = await client.post(`/reviews/${encodeURIComponent(operation)}`, {
        outcome: moved === true ? "moved" : "not_moved",
        evidence,
        ...(gatewayReference === undefined ? {} : { gatewayReference }),
      });
      const { kind, status } = body["operation"] as WireOperation & { kind: string };
      const text = `${kind} ${operation}: ${status}\n${paymentText(body["payment"] as WirePayment)}`;
      context.output().result(body, text);
    });
  return review;
}

function listed(reviews: readonly WireReview[]): string {
  return table([
    ["OPERATION", "KIND", "AMOUNT", "SINCE", "MERCHANT", "PAYMENT", "AT THE GATEWAY", "WHY"],
    ...reviews.map((one) => [
      one.operationId,
      one.kind,
      amountText(one.amount, one.currency),
      one.since,
      one.merchant,
      one.paymentId,
      one.authorizationReference ?? one.gatewayKey,
      one.reason,
    ]),
  ]);
}
