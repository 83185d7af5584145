import { Command, Option } from "commander";
import { captureBatch } from "../batch/capture-batch";
import type { CommandContext } from "../cli";
import {
  amountText,
  eventText,
  paymentText,
  type WireEvent,
  type WireOperation,
  type WirePayment,
} from "../client/in-words";
import { move } from "../client/movement";
import { ServerClient, type ServerAnswer } from "../client/server-client";
import { UsageError } from "../exit-status";
import { table } from "../output";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const doneWith = { capture: "captured", void: "voided", refund: "refunded" } as const;

interface MovementOptions {
  readonly amount?: number;
  readonly currency?: string;
  readonly idempotencyKey?: string;
}

interface BatchOptions {
  readonly batch?: string;
  readonly failed?: string;
}

/** `payments`: a client of a running server. */
export function paymentsCommand(context: CommandContext): Command {
  const payments = new Command("payments").description(
    "authorize, capture, void, refund and show payments, on a running server",
  );
  payments.addCommand(authorizeCommand(context));
  payments.addCommand(captureCommand(context));
  payments.addCommand(movementCommand(context, "void", "release the money of an authorized payment"));
  payments.addCommand(movementCommand(context, "refund", "return captured money, in full or in parts"));
  payments.addCommand(showCommand(context));
  payments.addCommand(listCommand(context));
  return payments;
}

function authorizeCommand(context: CommandContext): Command {
  return new Command("authorize")
    .description("authorize an amount, or import an authorization made elsewhere")
    .option("--amount <minor units>", "amount in minor units: 1250 is 12.50 EUR", minorUnits)
    .option("--currency <code>", "ISO 4217 code")
    .option(
      "--payment-method <token>",
      "the gateway's token for a card; the simulated gateway accepts tok_ok",
    )
    .option(
      "--gateway-reference <reference>",
      "the gateway's reference for an authorization made elsewhere, for the merchant of the key",
    )
    .option(
      "--return-url <url>",
      "where the customer comes back to, if the gateway sends them to a page of its own",
    )
    .option("--reference <text>", "your own name for the payment")
    .option("--metadata <name=value...>", "entries of your own, each with a text", named)
    .option("--expires-in <seconds>", "how long the payment can be captured", seconds)
    .addOption(keyOption())
    .addHelpText(
      "after",
      "\nExamples:\n" +
        "  $ holdfast payments authorize --amount 1250 --currency EUR --payment-method tok_ok\n" +
        "  $ holdfast payments authorize --amount 1250 --currency EUR --payment-method pm_1N2k --return-url https://shop.example\n" +
        "  $ holdfast payments authorize --gateway-reference pi_3N2k --reference order-1042\n",
    )
    .action((wish: Record<string, unknown> & { idempotencyKey?: string; gatewayReference?: string }) => {
      const { idempotencyKey, ...body } = wish;
      const needed = ["amount", "currency", "paymentMethod"] as const;
      if (wish.gatewayReference === undefined && needed.some((name) => wish[name] === undefined)) {
        throw new UsageError(
          "give --amount, --currency and --payment-method, or --gateway-reference for an authorization made elsewhere",
        );
      }
      return move(context, { path: "/payments", body, idempotencyKey, inWords: paymentIn });
    });
}

/** One payment, or with `--batch` those of a file. */
function captureCommand(context: CommandContext): Command {
  return withPartOfAmount(new Command("capture"))
    .description("capture the money of an authorized payment, or of many")
    .argument("[payment]", "the payment's id")
    .option("--batch <file>", "capture the payments of a file of JSON lines instead; - is stdin")
    .option(
      "--failed <file>",
      "where --batch writes what was not captured (default: <file>.failed.jsonl beside it)",
    )
    .addOption(keyOption())
    .addHelpText(
      "after",
      examplesOf("capture") +
        "  $ holdfast payments capture --batch orders.jsonl\n\n" +
        'Each line of a batch is a JSON object: {"paymentId":"019aa2b4-…","amount":1250}. Without an amount all of it is\n' +
        "captured. Keys (idempotencyKey) are made from the lines that have none, so the same file can be run again at any time.\n",
    )
    .action((payment: string | undefined, options: MovementOptions & BatchOptions) => {
      const { batch, failed, ...ofOne } = options;
      if (batch === undefined && payment !== undefined && failed === undefined) {
        return moveOne(context, "capture", payment, ofOne);
      }
      if (batch === undefined || payment !== undefined || Object.keys(ofOne).length > 0) {
        throw new UsageError("give a payment, with its own options, or --batch <file>, with --failed alone");
      }
      return captureBatch(context, { file: batch, failedFile: failed });
    });
}

function movementCommand(context: CommandContext, kind: "void" | "refund", description: string): Command {
  const command = new Command(kind).description(description).argument("<payment>", "the payment's id");
  if (kind !== "void") withPartOfAmount(command);
  return command
    .addOption(keyOption())
    .addHelpText("after", examplesOf(kind))
    .action((payment: string, options: MovementOptions) => moveOne(context, kind, payment, options));
}

function withPartOfAmount(command: Command): Command {
  return command
    .option("--amount <minor units>", "1250 is 12.50 EUR; default: everything that is left", minorUnits)
    .option("--currency <code>", "must match the payment's currency");
}

function examplesOf(kind: keyof typeof doneWith): string {
  return (
    `\nExamples:\n  $ holdfast payments ${kind} 019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01\n` +
    `  $ holdfast payments ${kind} 019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01 --idempotency-key cli-4f0c   # once more\n`
  );
}

function moveOne(
  context: CommandContext,
  kind: keyof typeof doneWith,
  payment: string,
  { idempotencyKey, ...body }: MovementOptions,
): Promise<void> {
  return move(context, {
    path: `/payments/${idOf(payment)}/${kind === "refund" ? "refunds" : kind}`,
    body,
    idempotencyKey,
    inWords: (answer) => {
      const { status, amount } = answer[kind] as WireOperation;
      const money = amountText(amount, answer["payment"] as WirePayment);
      const done = status === "succeeded" ? doneWith[kind] : `${kind} of`;
      return `${done} ${money}${status === "succeeded" ? "" : `: ${status}`}\n${paymentIn(answer)}`;
    },
  });
}

function showCommand(context: CommandContext): Command {
  return new Command("show")
    .description("show a payment and its history")
    .argument("<payment>", "the payment's id")
    .addHelpText("after", "\nExample:\n  $ holdfast payments show 019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01\n")
    .action(async (payment: string) => {
      const client = new ServerClient(context.configured().server());
      const path = `/payments/${idOf(payment)}`;
      const { body } = await client.get(path);
      const history = await historyOf(client, path);
      context
        .output()
        .result({ ...body, events: history }, [paymentIn(body), ...history.map(eventText)].join("\n"));
    });
}

/** All pages of it. */
async function historyOf(client: ServerClient, path: string): Promise<readonly WireEvent[]> {
  const history: WireEvent[] = [];
  let cursor: string | null | undefined;
  do {
    const { body } = await client.get(`${path}/events`, typeof cursor === "string" ? { cursor } : {});
    history.push(...(body["data"] as readonly WireEvent[]));
    cursor = body["nextCursor"] as string | null;
  } while (cursor !== null);
  return history;
}

function listCommand(context: CommandContext): Command {
  return new Command("list")
    .description("list payments, newest first")
    .option("--status <status>", "authorized, captured, …")
    .option("--reference <text>", "your own name for the payment")
    .option("--created-from <instant>", "inclusive")
    .option("--created-to <instant>", "exclusive")
    .option("--limit <number>", "1 to 100; default: 20")
    .option("--cursor <cursor>", "the cursor that the previous page printed")
    .addHelpText("after", "\nExample:\n  $ holdfast payments list --status authorized --limit 100 --json\n")
    .action(async (query: Record<string, string | undefined>) => {
      const { body } = await new ServerClient(context.configured().server()).get("/payments", query);
      const { data, nextCursor } = body as { data: readonly WirePayment[]; nextCursor: string | null };
      const rows = data.map((one) => [
        one.id,
        one.status,
        amountText(one.amount, one),
        one.reference ?? "-",
        one.createdAt,
      ]);
      const output = context.output();
      output.result(body, table([["ID", "STATUS", "AMOUNT", "REFERENCE", "CREATED"], ...rows]));
      if (nextCursor !== null) output.note(`there are more payments: continue with --cursor ${nextCursor}`);
    });
}

function keyOption(): Option {
  return new Option(
    "--idempotency-key <key>",
    "the key of the command that you repeat; default: a new key, which is printed",
  );
}

function paymentIn(body: ServerAnswer["body"]): string {
  return paymentText(body["payment"] as WirePayment);
}

function idOf(text: string): string {
  if (!UUID.test(text)) throw new UsageError(`${text} is not a payment id: see holdfast payments list`);
  return text.toLowerCase();
}

function minorUnits(text: string): number {
  if (!/^[1-9]\d{0,11}$/.test(text)) {
    throw new UsageError(
      `--amount ${text}: must be a whole number of minor units, such as 1250 for 12.50 EUR`,
    );
  }
  return Number(text);
}

function seconds(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageError(`--expires-in ${text}: must be whole seconds`);
  return Number(text);
}

function named(text: string, before: Readonly<Record<string, string>> = {}): Record<string, string> {
  const at = text.indexOf("=");
  if (at < 1) throw new UsageError(`--metadata ${text}: must be name=value`);
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
}
