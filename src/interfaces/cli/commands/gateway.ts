import { Command } from "commander";
import type { CommandContext } from "../cli";
import { amountText, paymentText, type WirePayment } from "../client/in-words";
import { ServerClient } from "../client/server-client";
import { table } from "../output";

interface WireObservation {
  readonly operationId: string;
  readonly kind: string;
  readonly amount: number;
  readonly recorded: string;
  readonly gateway: {
    readonly answer: string;
    readonly reason?: string;
    readonly evidence?: string;
    readonly reference?: string;
  } | null;
  readonly result: string;
  readonly notAsked: string | null;
}

interface WireObserved {
  readonly operations: readonly WireObservation[];
  readonly payment: WirePayment;
  readonly nextCursor: string | null;
}

interface WireCaughtUp {
  readonly events: number;
  readonly accepted: number;
  readonly nextCursor: string | null;
}

/** `gateway`: what the gateway says about a payment, on a running server, with an operator's key. */
export function gatewayCommand(context: CommandContext): Command {
  const gateway = new Command("gateway").description(
    "compare payments with the gateway, on a running server",
  );
  gateway
    .command("observe")
    .description(
      "compare a payment with the gateway's view of it, and write down what differs: refunds that failed later, movements that others made, disputes; moves no money",
    )
    .argument("<payment>", "the payment's id")
    .addHelpText("after", "\nExample:\n  $ holdfast gateway observe 019aa2b4-7c00-7d3a-9c55-3f1f6b8a2e01\n")
    .action(async (id: string) => {
      const server = new ServerClient(context.configured().server());
      const body = await observeAll(server, `/gateway/payments/${encodeURIComponent(id)}/observe`);
      const { payment, operations } = body;
      const output = context.output();
      output.result(body, [observed(operations, payment), paymentText(payment)].join("\n"));
      if (operations.some(({ result }) => result === "in_review")) {
        output.note("operations that contradict the gateway wait for a decision: see holdfast review list");
      }
    });
  gateway
    .command("catch-up")
    .description(
      "read the gateway's own list of events since a time, and ask it about their payments; serve does this continuously",
    )
    .requiredOption("--since <time>", "ISO 8601 with an offset or Z; Stripe keeps events for 30 days")
    .addHelpText("after", "\nExample:\n  $ holdfast gateway catch-up --since 2026-03-01T00:00:00Z\n")
    .action(async ({ since }: { since: string }) => {
      const server = new ServerClient(context.configured().server());
      const read = await readEvents(server, since);
      const words = `${read.accepted} of ${read.events} events were new; the server asks about their payments now`;
      context.output().result({ since, ...read }, words);
    });
  return gateway;
}

/** Page by page, as far as the gateway's list goes. */
async function readEvents(
  server: ServerClient,
  since: string,
): Promise<{ readonly events: number; readonly accepted: number }> {
  const read = { events: 0, accepted: 0 };
  for (let cursor: string | null = null; ;) {
    const { body } = await server.post("/gateway/catch-up", {
      since,
      ...(cursor === null ? {} : { cursor }),
    });
    const { events, accepted, nextCursor } = body as unknown as WireCaughtUp;
    read.events += events;
    read.accepted += accepted;
    if (nextCursor === null) return read;
    cursor = nextCursor;
  }
}

/** As many requests as it takes. What one of them did not ask about, another one did. */
async function observeAll(server: ServerClient, path: string): Promise<WireObserved> {
  const asked = new Map<string, WireObservation>();
  for (let cursor = ""; ;) {
    const answer = await server.post(cursor === "" ? path : `${path}?cursor=${cursor}`, {});
    const { payment, operations, nextCursor } = answer.body as unknown as WireObserved;
    for (const one of operations) {
      if (one.notAsked === null || !asked.has(one.operationId)) asked.set(one.operationId, one);
    }
    if (nextCursor === null) return { operations: [...asked.values()], payment, nextCursor };
    cursor = nextCursor;
  }
}

function observed(operations: readonly WireObservation[], payment: WirePayment): string {
  return table([
    ["OPERATION", "KIND", "AMOUNT", "RECORDED", "GATEWAY'S ANSWER", "RESULT"],
    ...operations.map((one) => [
      one.operationId,
      one.kind,
      amountText(one.amount, payment),
      one.recorded,
      saidText(one),
      one.result,
    ]),
  ]);
}

function saidText({ gateway, notAsked }: WireObservation): string {
  if (gateway === null) return `not asked: ${notAsked}`;
  const { answer, reason, evidence, reference } = gateway;
  const words = reason ?? evidence ?? reference;
  return words === undefined ? answer : `${answer}: ${words}`;
}
