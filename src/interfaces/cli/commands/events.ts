import { randomBytes } from "node:crypto";
import { Command } from "commander";
import { SECRET_BYTES, webhookSecret } from "../../../application/webhooks/sign-webhook";
import type { CommandContext } from "../cli";
import { followEvents, type WirePublicEvent } from "../client/follow-events";
import { forwardEvent } from "../client/forward-event";
import { amountText, type WirePayment } from "../client/in-words";
import { ServerClient } from "../client/server-client";
import { exitStatus, UsageError } from "../exit-status";

interface TailOptions {
  readonly after: string;
  readonly types?: string;
  readonly payment?: string;
  readonly sandbox?: string;
  readonly forward?: string;
  readonly secret?: string;
}

const SECRET = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/;

/** `events`: what happens to payments, as a running server tells it. */
export function eventsCommand(context: CommandContext): Command {
  const events = new Command("events").description("follow what happens to payments, on a running server");
  events
    .command("tail")
    .description(
      "print each event as it happens, or send it to a receiver of your own, until a signal ends it",
    )
    .option("--after <cursor>", "a cursor; latest: only what comes; beginning: everything", "latest")
    .option("--types <list>", "only these, separated by commas: payment.captured,refund.failed")
    .option("--payment <id>", "only of this payment")
    .option("--sandbox <id>", "in this sandbox")
    .option("--forward <url>", "send each event there, signed as a webhook is")
    .option("--secret <whsec_…>", "what to sign with (default: a new one, which is told)")
    .addHelpText(
      "after",
      "\nGoes on by itself when the server was away. Ends with 130 or 143, as the signal says, and tells the cursor to\n" +
        "go on with.\n\nExamples:\n" +
        "  $ holdfast events tail --types payment.captured,refund.failed\n" +
        "  $ holdfast events tail --json --after beginning | jq .data.payment.id\n" +
        "  $ holdfast events tail --forward http://127.0.0.1:3000/webhooks\n",
    )
    .action((options: TailOptions) => tail(context, options));
  return events;
}

async function tail(context: CommandContext, options: TailOptions): Promise<void> {
  const { after, types, payment: paymentId, sandbox } = options;
  const output = context.output();
  const handle = handler(context, options);
  const server = new ServerClient(context.configured().server());
  let cursor: string | undefined;
  await untilEnded(context, async (signal) => {
    await followEvents(server, {
      path: sandbox === undefined ? "/events" : `/sandboxes/${encodeURIComponent(sandbox)}/events`,
      after: after === "beginning" ? undefined : after,
      types,
      paymentId,
      signal,
      onEvent: (event) => handle(event, signal),
      onCursor: (at) => (cursor = at),
      onTrouble: (error) => output.note(`${error.message}; trying again each second`),
      onBack: () => output.note("the server answers again"),
    });
  });
  if (cursor !== undefined) output.note(`go on with --after ${cursor}`);
}

type Handle = (event: WirePublicEvent, signal: AbortSignal) => Promise<void>;

function handler(context: CommandContext, { forward, secret }: TailOptions): Handle {
  const output = context.output();
  if (forward === undefined) {
    if (secret !== undefined) throw new UsageError("--secret is for --forward");
    return async (event) => output.result(event, eventLine(event));
  }
  if (!/^https?:$/.test(URL.canParse(forward) ? new URL(forward).protocol : "")) {
    throw new UsageError("--forward takes a URL that begins with http: or https:");
  }
  if (secret !== undefined && !SECRET.test(secret)) {
    throw new UsageError("--secret takes whsec_ and the base64 of 24 bytes or more");
  }
  const key = secret ?? webhookSecret(randomBytes(SECRET_BYTES));
  if (secret === undefined) output.note(`signed with ${key}`);
  return async (event, signal) => {
    const { isAccepted, said } = await forwardEvent(forward, key, event, signal);
    output.result({ ...event, forwarded: { isAccepted, said } }, `${said}  ${eventLine(event)}`);
    if (!isAccepted)
      output.note(`${forward} did not take event ${event.id} (${said}); going on with the next`);
  };
}

/** One line: when, what, which payment, how it is now, and which movement it is about. */
function eventLine({ timestamp, type, data }: WirePublicEvent): string {
  const { payment, operation } = data as {
    payment?: WirePayment;
    operation?: { readonly kind: string; readonly status: string; readonly amount: number } | null;
  };
  if (payment === undefined) return `${timestamp}  ${type.padEnd(22)} ${JSON.stringify(data)}`;
  const parts = [`payment ${payment.id}: ${payment.status}, ${amountText(payment.amount, payment)}`];
  if (operation !== null && operation !== undefined) {
    parts.push(`${operation.kind} ${amountText(operation.amount, payment)} ${operation.status}`);
  }
  return `${timestamp}  ${type.padEnd(22)} ${parts.join("; ")}`;
}

/** Until a signal comes, or the reader of the output goes away (`| head`), or the work throws. */
async function untilEnded(
  context: CommandContext,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const ended = new AbortController();
  const onInterrupt = (): void => {
    context.end(exitStatus.interrupted, "SIGINT");
    ended.abort();
  };
  const onTerminate = (): void => {
    context.end(exitStatus.terminated);
    ended.abort();
  };
  const onClosed = (): void => ended.abort();
  process.on("SIGINT", onInterrupt);
  process.on("SIGTERM", onTerminate);
  process.stdout.on("error", onClosed);
  try {
    await work(ended.signal);
  } finally {
    process.off("SIGINT", onInterrupt);
    process.off("SIGTERM", onTerminate);
    process.stdout.off("error", onClosed);
  }
}
