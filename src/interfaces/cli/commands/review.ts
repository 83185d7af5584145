import { Command } from "commander";
import type { CommandContext } from "../cli";
import {
  amountText,
  eventText,
  paymentText,
  type WireEvent,
  type WireOperation,
  type WirePayment,
} from "../client/in-words";
import { ServerClient, type ServerAnswer } from "../client/server-client";
import { UsageError } from "../exit-status";
import { table } from "../output";

interface WireReview {
  readonly operationId: string;
  readonly paymentId: string;
  readonly merchant: string;
  readonly kind: string;
  readonly amount: number;
  readonly currency: string;
  readonly currencyExponent: number | null;
  readonly status: string;
  readonly reason: string;
  readonly since: string;
  readonly gatewayKey: string;
  readonly authorizationReference: string | null;
}

interface WireReviewed extends WireOperation {
  readonly kind: string;
  readonly needsReview: boolean;
}

interface Verdict {
  readonly moved?: boolean;
  readonly notMoved?: boolean;
  readonly stillPending?: boolean;
  readonly evidence: string;
  readonly gatewayReference?: string;
  readonly override?: string;
}

/** `review`: what only a person can decide, on a running server, with an operator's key. */
export function reviewCommand(context: CommandContext): Command {
  const review = new Command("review").description(
    "decide the outcome of operations that need a person, on a running server",
  );
  review
    .command("list")
    .description("list the operations that need a decision, oldest first")
    .option("--limit <number>", "1 to 100; default: 20")
    .option("--cursor <cursor>", "the cursor that the previous page printed")
    .addHelpText("after", "\nExample:\n  $ holdfast review list\n")
    .action(async (query: Record<string, string | undefined>) => {
      const { body } = await new ServerClient(context.configured().server()).get("/reviews", query);
      const { data, nextCursor } = body as { data: readonly WireReview[]; nextCursor: string | null };
      const output = context.output();
      output.result(body, data.length === 0 ? "no operation needs a decision" : listed(data));
      if (nextCursor !== null) output.note(`there are more operations: continue with --cursor ${nextCursor}`);
    });
  review
    .command("show")
    .description("show an operation: why it needs a decision, and earlier decisions with their evidence")
    .argument("<operation>", "the operation's id, from `review list`")
    .addHelpText("after", "\nExample:\n  $ holdfast review show 019aa2b4-7c05-7b1e-8f10-52c0f4d9a702\n")
    .action(async (operation: string) => {
      const { body } = await new ServerClient(context.configured().server()).get(pathOf(operation));
      const events = body["events"] as readonly WireEvent[];
      context.output().result(body, [reviewedText(body), ...events.map(eventText)].join("\n"));
    });
  review
    .command("resolve")
    .description(
      "decide whether the money moved; the gateway is asked once more first. Your decision is taken as fact, and is kept " +
        "in the history",
    )
    .argument("<operation>", "the operation's id, from `review list`")
    .option("--moved", "the gateway moved the money")
    .option("--not-moved", "the gateway did not move the money, and will not")
    .option(
      "--still-pending",
      "the gateway has not decided either: the review stays open, and the gateway is asked again after a day",
    )
    .requiredOption("--evidence <text>", "how you know: where you looked and what you saw")
    .option(
      "--gateway-reference <reference>",
      "the gateway's reference for it; required where it reserved money",
    )
    .option("--override <reason>", "why the verdict is right although the gateway contradicts it")
    .addHelpText(
      "after",
      "\nExample:\n  $ holdfast review resolve 019aa2b4-7c05-7b1e-8f10-52c0f4d9a702 --moved \\\n" +
        '      --evidence "the dashboard shows the capture, 12.50 EUR, 12:00:01"\n',
    )
    .action(async (operation: string, verdict: Verdict) => {
      const { evidence, gatewayReference, override } = verdict;
      const outcome = outcomeOf(verdict);
      const { body } = await new ServerClient(context.configured().server()).post(pathOf(operation), {
        outcome,
        evidence,
        gatewayReference,
        overrideReason: override,
      });
      context.output().result(body, reviewedText(body));
    });
  return review;
}

function outcomeOf({ moved, notMoved, stillPending }: Verdict): "moved" | "not_moved" | "pending" {
  const given = [
    ...(moved === true ? (["moved"] as const) : []),
    ...(notMoved === true ? (["not_moved"] as const) : []),
    ...(stillPending === true ? (["pending"] as const) : []),
  ];
  const [outcome, ...others] = given;
  if (outcome === undefined || others.length > 0) {
    throw new UsageError("give one of --moved, --not-moved and --still-pending");
  }
  return outcome;
}

function pathOf(operation: string): string {
  return `/reviews/${encodeURIComponent(operation)}`;
}

function reviewedText(body: ServerAnswer["body"]): string {
  const { id, kind, status, needsReview } = body["operation"] as WireReviewed;
  const waits = needsReview ? ", needs a decision" : "";
  return `${kind} ${id}: ${status}${waits}\n${paymentText(body["payment"] as WirePayment)}`;
}

function listed(reviews: readonly WireReview[]): string {
  return table([
    ["OPERATION", "KIND", "AMOUNT", "STATUS", "SINCE", "MERCHANT", "PAYMENT", "AT THE GATEWAY", "WHY"],
    ...reviews.map((one) => [
      one.operationId,
      one.kind,
      amountText(one.amount, one),
      one.status,
      one.since,
      one.merchant,
      one.paymentId,
      one.authorizationReference ?? one.gatewayKey,
      one.reason,
    ]),
  ]);
}
