import { Command, Option } from "commander";
import type { CommandContext } from "../cli";
import { ServerClient } from "../client/server-client";
import { UsageError } from "../exit-status";
import { table } from "../output";

interface WireEndpoint {
  readonly id: string;
  readonly url: string;
  readonly types: readonly string[] | null;
  readonly enabled: boolean;
  readonly disabledReason: string | null;
  readonly ordered: boolean;
  readonly description: string | null;
}

interface WireDelivery {
  readonly id: string;
  readonly type: string;
  readonly status: string;
  readonly attempts: number;
  readonly createdAt: string;
  readonly nextAttemptAt: string | null;
  readonly lastAttempt: { readonly status: number | null; readonly failure: string | null } | null;
}

interface Wish {
  readonly url?: string;
  readonly types?: string;
  readonly description?: string;
  readonly ordered?: true;
  readonly unordered?: true;
  readonly enable?: true;
  readonly disable?: true;
}

const EXAMPLE_ID = "019aa2b4-7c05-7b1e-8f10-52c0f4d9a702";
const TYPES = "event types with commas between them; all: every one, also later ones";

/** `webhooks`: where a running server tells what happens, and what became of telling. */
export function webhooksCommand(context: CommandContext): Command {
  const webhooks = new Command("webhooks").description(
    "where a running server tells what happens, and what became of telling it",
  );
  const client = () => new ServerClient(context.configured().server());
  const example = (line: string) => `\nExample:\n  $ holdfast webhooks ${line}\n`;

  webhooks
    .command("create")
    .description("be told what happens; prints the secret that verifies deliveries, this once")
    .argument("<url>", "where to: https://…")
    .option("--types <types>", TYPES)
    .option("--description <text>", "in your own words")
    .option("--unordered", "a payment's next event does not wait for the one before")
    .addHelpText(
      "after",
      example("create https://shop.example/hooks --types payment.captured,payment.refunded"),
    )
    .action(async (url: string, wish: Wish) => {
      const { body } = await client().post("/webhook-endpoints", { ...wished(wish), url });
      context.output().result(body, withSecret(body));
    });
  webhooks
    .command("list")
    .description("all endpoints, oldest first")
    .option("--limit <number>", "1 to 100; default: 20")
    .option("--cursor <cursor>", "where the page before ended")
    .addHelpText("after", example("list"))
    .action(async (query: Record<string, string | undefined>) => {
      const { body } = await client().get("/webhook-endpoints", query);
      const { data, nextCursor } = body as { data: readonly WireEndpoint[]; nextCursor: string | null };
      const output = context.output();
      output.result(body, data.length === 0 ? "there are no webhook endpoints" : listed(data));
      if (nextCursor !== null) output.note(`there are more: --cursor ${nextCursor}`);
    });
  webhooks
    .command("show")
    .description("one endpoint, without its secret")
    .argument("<endpoint>", "as `webhooks list` shows it")
    .addHelpText("after", example(`show ${EXAMPLE_ID}`))
    .action(async (id: string) => {
      const { body } = await client().get(pathOf(id));
      context.output().result(body, inWords(body["endpoint"] as WireEndpoint));
    });
  webhooks
    .command("update")
    .description("change an endpoint; what is not named stays as it is")
    .argument("<endpoint>", "as `webhooks list` shows it")
    .option("--url <url>", "where to: https://…")
    .option("--types <types>", TYPES)
    .option("--description <text>", "in your own words")
    .addOption(
      new Option("--ordered", "a payment's next event waits for the one before").conflicts("unordered"),
    )
    .option("--unordered", "it does not wait")
    .addOption(
      new Option("--enable", "deliver again; what happened meanwhile: replay it").conflicts("disable"),
    )
    .option("--disable", "deliver nothing")
    .addHelpText("after", example(`update ${EXAMPLE_ID} --enable`))
    .action(async (id: string, wish: Wish) => {
      const { body } = await client().patch(pathOf(id), wished(wish));
      context.output().result(body, inWords(body["endpoint"] as WireEndpoint));
    });
  webhooks
    .command("delete")
    .description("deliver nothing there any more, and forget its secret")
    .argument("<endpoint>", "as `webhooks list` shows it")
    .addHelpText("after", example(`delete ${EXAMPLE_ID}`))
    .action(async (id: string) => {
      const { body } = await client().delete(pathOf(id));
      context.output().result(body, `deleted ${String(body["deleted"])}`);
    });
  webhooks
    .command("rotate-secret")
    .description("get a new secret; prints it, this once")
    .argument("<endpoint>", "as `webhooks list` shows it")
    .option(
      "--overlap <seconds>",
      "how long either secret verifies; default: a day; 0: former ones are void at once",
    )
    .addHelpText("after", example(`rotate-secret ${EXAMPLE_ID} --overlap 3600`))
    .action(async (id: string, { overlap }: { overlap?: string }) => {
      const sent = overlap === undefined ? {} : { overlapSeconds: wholeNumber(overlap, "--overlap") };
      const { body } = await client().post(`${pathOf(id)}/rotate-secret`, sent);
      context.output().result(body, withSecret(body));
    });
  webhooks
    .command("test")
    .description("send a test event")
    .argument("<endpoint>", "as `webhooks list` shows it")
    .addHelpText("after", example(`test ${EXAMPLE_ID}`))
    .action(async (id: string) => {
      const { body } = await client().post(`${pathOf(id)}/test`, {});
      context.output().result(body, deliveryText(body["delivery"] as WireDelivery));
    });
  webhooks
    .command("deliveries")
    .description("what was and will be delivered, newest first")
    .argument("<endpoint>", "as `webhooks list` shows it")
    .addOption(new Option("--status <status>", "only these").choices(["pending", "delivered", "failed"]))
    .option("--limit <number>", "1 to 100; default: 20")
    .option("--cursor <cursor>", "where the page before ended")
    .addHelpText("after", example(`deliveries ${EXAMPLE_ID} --status failed`))
    .action(async (id: string, query: Record<string, string | undefined>) => {
      const { body } = await client().get(`${pathOf(id)}/deliveries`, query);
      const { data, nextCursor } = body as { data: readonly WireDelivery[]; nextCursor: string | null };
      const output = context.output();
      output.result(body, data.length === 0 ? "there are no deliveries" : deliveryTable(data));
      if (nextCursor !== null) output.note(`there are more: --cursor ${nextCursor}`);
    });
  webhooks
    .command("redeliver")
    .description("deliver once more, with the same id and body")
    .argument("<delivery>", "as `webhooks deliveries` shows it")
    .addHelpText("after", example(`redeliver ${EXAMPLE_ID}`))
    .action(async (id: string) => {
      const { body } = await client().post(`/webhook-deliveries/${encodeURIComponent(id)}/redeliver`, {});
      context.output().result(body, deliveryText(body["delivery"] as WireDelivery));
    });
  webhooks
    .command("replay")
    .description("deliver all events of a time once more")
    .argument("<endpoint>", "as `webhooks list` shows it")
    .requiredOption("--from <time>", "ISO 8601 with an offset or Z")
    .requiredOption("--to <time>", "ISO 8601 with an offset or Z")
    .addHelpText(
      "after",
      example(`replay ${EXAMPLE_ID} --from 2026-03-01T00:00:00Z --to 2026-03-02T00:00:00Z`),
    )
    .action(async (id: string, span: { from: string; to: string }) => {
      const { body } = await client().post(`${pathOf(id)}/replay`, span);
      context.output().result(body, `${String(body["replayed"])} events are delivered once more`);
    });
  return webhooks;
}

function wished({ url, types, description, ordered, unordered, enable, disable }: Wish): object {
  return {
    ...(url === undefined ? {} : { url }),
    ...(types === undefined ? {} : { types: types === "all" ? null : types.split(",") }),
    ...(description === undefined ? {} : { description: description === "" ? null : description }),
    ...(ordered === true ? { ordered: true } : unordered === true ? { ordered: false } : {}),
    ...(enable === true ? { enabled: true } : disable === true ? { enabled: false } : {}),
  };
}

function wholeNumber(text: string, option: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageError(`${option} is a whole number of seconds`);
  return Number(text);
}

function pathOf(endpoint: string): string {
  return `/webhook-endpoints/${encodeURIComponent(endpoint)}`;
}

function inWords({ id, url, types, enabled, disabledReason, ordered, description }: WireEndpoint): string {
  const state = enabled ? "enabled" : `disabled (${disabledReason})`;
  const lines = [
    `webhook endpoint ${id}: ${state}`,
    `to ${url}`,
    `of ${types === null ? "all events" : types.join(", ")}, ${ordered ? "in the order of each payment" : "in any order"}`,
  ];
  if (description !== null) lines.push(description);
  return lines.join("\n  ");
}

function withSecret(body: Readonly<Record<string, unknown>>): string {
  return `${inWords(body["endpoint"] as WireEndpoint)}\nsecret, shown this once: ${String(body["secret"])}`;
}

function listed(endpoints: readonly WireEndpoint[]): string {
  return table([
    ["ENDPOINT", "STATE", "URL", "TYPES", "DESCRIPTION"],
    ...endpoints.map((one) => [
      one.id,
      one.enabled ? "enabled" : `disabled: ${one.disabledReason}`,
      one.url,
      one.types?.join(",") ?? "all",
      one.description ?? "",
    ]),
  ]);
}

function deliveryText({ id, type, status, attempts, nextAttemptAt }: WireDelivery): string {
  const next = nextAttemptAt === null ? "" : `, next attempt due ${nextAttemptAt}`;
  return `delivery ${id} of ${type}: ${status}, ${attempts} attempts${next}`;
}

function deliveryTable(deliveries: readonly WireDelivery[]): string {
  return table([
    ["DELIVERY", "TYPE", "STATUS", "ATTEMPTS", "LAST ANSWER", "CREATED", "NEXT ATTEMPT"],
    ...deliveries.map((one) => [
      one.id,
      one.type,
      one.status,
      String(one.attempts),
      one.lastAttempt === null ? "" : String(one.lastAttempt.status ?? one.lastAttempt.failure),
      one.createdAt,
      one.nextAttemptAt ?? "",
    ]),
  ]);
}
