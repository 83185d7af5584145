import { Command } from "commander";
import type { CommandContext } from "../cli";
import { amountText, paymentText, type WirePayment } from "../client/in-words";
import { pastInstant } from "../client/instant-option";
import { ServerClient } from "../client/server-client";
import { ServerRefusal } from "../client/server-errors";
import { exitStatus, UsageError } from "../exit-status";
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
  readonly picture: { readonly answer: string; readonly reason?: string } | null;
  readonly nextCursor: string | null;
}

interface WireCaughtUp {
  readonly account: string | null;
  readonly unread?: string;
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
      if (body.picture?.answer === "unknown") {
        output.warn(
          `the gateway did not show the payment as a whole (${body.picture.reason}): what others did there, and disputes, were ` +
            "not compared; repeat the command",
        );
        context.end(exitStatus.unavailable);
      }
    });
  gateway
    .command("catch-up")
    .description(
      "read the gateway's own lists of events since a time, and ask it about their payments; serve does this continuously",
    )
    .requiredOption("--since <time>", "ISO 8601 with an offset or Z; Stripe keeps events for 30 days")
    .addHelpText("after", "\nExample:\n  $ holdfast gateway catch-up --since 2026-03-01T00:00:00Z\n")
    .action(async (given: { since: string }) => {
      const since = pastInstant("--since", given.since, new Date());
      const server = new ServerClient(context.configured().server());
      const read = await readEvents(server, since).catch((error: unknown) => {
        throw isWithoutEvents(error) ? new UsageError(WITHOUT_EVENTS) : error;
      });
      const words = `${read.accepted} of ${read.events} events were new; the server asks about their payments now`;
      const output = context.output();
      output.result({ since, ...read }, words);
      if (Date.parse(since) < Date.now() - STRIPE_KEEPS_MS)
        output.warn(
          "Stripe keeps events for 30 days: older ones are in no list, and were not read. Compare payments of that time one " +
            "by one, with holdfast gateway observe <payment>",
        );
      if (read.unread.length === 0) return;
      for (const { account, reason } of read.unread)
        output.warn(`the list of ${account} could not be read: ${reason}`);
      context.end(exitStatus.unavailable);
    });
  return gateway;
}

/** Only Stripe has lists of events. */
const STRIPE_KEEPS_MS = 30 * 24 * 3_600_000;

const WITHOUT_EVENTS =
  "the server's gateway keeps no list of events, so there is nothing to catch up with: only stripe: has one";

function isWithoutEvents(error: unknown): boolean {
  return error instanceof ServerRefusal && error.problem.code === "route_not_found";
}

interface EventsRead {
  events: number;
  accepted: number;
  /** Accounts of merchants whose lists could not be read. */
  readonly unread: { readonly account: string | null; readonly reason: string }[];
}

/** Page by page, as far as the gateway's lists go. */
async function readEvents(server: ServerClient, since: string): Promise<EventsRead> {
  const read: EventsRead = { events: 0, accepted: 0, unread: [] };
  for (let cursor: string | null = null; ;) {
    const { body } = await server.post("/gateway/catch-up", {
      since,
      ...(cursor === null ? {} : { cursor }),
    });
    const { account, events, accepted, unread, nextCursor } = body as unknown as WireCaughtUp;
    if (unread !== undefined) read.unread.push({ account, reason: unread });
    read.events += events;
    read.accepted += accepted;
    if (nextCursor === null) return read;
    cursor = nextCursor;
  }
}

/** As many requests as it takes. What one of them did not ask about, another one did. */
async function observeAll(server: ServerClient, path: string): Promise<WireObserved> {
  const asked = new Map<string, WireObservation>();
  let failed: WireObserved["picture"] = null;
  for (let cursor = ""; ;) {
    const answer = await server.post(cursor === "" ? path : `${path}?cursor=${cursor}`, {});
    const { payment, operations, picture, nextCursor } = answer.body as unknown as WireObserved;
    failed = picture?.answer === "unknown" ? picture : failed;
    for (const one of operations) {
      if (one.notAsked === null || !asked.has(one.operationId)) asked.set(one.operationId, one);
    }
    if (nextCursor === null)
      return { operations: [...asked.values()], payment, picture: failed ?? picture, nextCursor };
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
