import { randomUUID } from "node:crypto";
import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { HoldfastProcess } from "../../support/program/holdfast-process";
import { WebhookReceiver, type ReceivedWebhook } from "../../support/receivers/webhook-receiver";

export interface WebhookStormOptions {
  /** Of the built program. */
  readonly main: string;
  readonly folder: string;
  readonly flags: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly instances: number;
  readonly kills: number;
}

/** An event as the feed and a webhook show it. */
export interface ToldEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly payment?: { readonly id: string }; readonly sequence?: number };
}

export interface WebhookStormOutcome {
  /** What the store has told, in the end. */
  readonly told: readonly ToldEvent[];
  /** By endpoint. */
  readonly received: Readonly<Record<"fast" | "slow" | "dead" | "lying", readonly ReceivedWebhook[]>>;
  /** What the official package did not verify when it came. */
  readonly unverified: readonly string[];
  readonly kills: number;
}

const CALLERS = 4;
/** Slower than the others, and with four at once still faster than what is made for it: a line that only grows shows nothing. */
const SLOW_MS = 50;
/** Between two payments of a caller, each of which has three events. */
const BETWEEN_PAYMENTS_MS = 250;
/** A loan of a killed instance, a few retries after 5 s, one after the other, and a slow machine. */
const SETTLE_MS = 120_000;
const BETWEEN_KILLS_MS = { least: 100, spread: 500 };

/**
 * Payments are made, captured and refunded all the time, while instances are killed and started again, and endpoints are
 * fast, slow, dead and lying.
 */
export async function webhookStorm(options: WebhookStormOptions): Promise<WebhookStormOutcome> {
  const { main, folder, flags, env = {}, instances: count, kills } = options;
  const receiver = await WebhookReceiver.open();
  const secrets: Record<string, string> = {};
  const unverified: string[] = [];
  receiver.answer = (webhook, response) => {
    try {
      new Webhook(secrets[webhook.path.slice(1)] ?? "").verify(webhook.body, { ...webhook.headers });
    } catch (error) {
      unverified.push(`${webhook.path} ${webhook.id}: ${String(error)}`);
    }
    answerOf(webhook, response);
  };
  const args = [main, "serve", "--port", "0", "--log-level", "fatal", "--shutdown-delay", "0", ...flags];
  const start = (at: number) =>
    new HoldfastProcess([...args, "--snapshots", `file:${folder}/snapshots-${at}`], { cwd: folder, env });
  const instances = Array.from({ length: count }, (_, at) => start(at));
  const urls = await Promise.all(instances.map((one) => one.url()));
  const over = new AbortController();
  try {
    for (const name of ["fast", "slow", "dead", "lying"]) {
      const body = { url: `${receiver.url}/${name}` };
      const made = (await call(urls[0]!, "POST", "/webhook-endpoints", body)) as { secret: string };
      secrets[name] = made.secret;
    }
    const callers = Array.from({ length: CALLERS }, (_, at) =>
      live(() => urls[at % urls.length]!, over.signal),
    );
    for (let kill = 0; kill < kills; kill += 1) {
      await pause(BETWEEN_KILLS_MS.least + Math.random() * BETWEEN_KILLS_MS.spread);
      const victim = kill % instances.length;
      await instances[victim]!.end("SIGKILL");
      instances[victim] = start(victim);
      urls[victim] = await instances[victim].url();
    }
    await pause(BETWEEN_KILLS_MS.spread);
    over.abort();
    await Promise.all(callers);
    const told = await settled(() => toldBy(urls[0]!), receiver);
    const received = Object.fromEntries(
      ["fast", "slow", "dead", "lying"].map((name) => [name, receiver.at(`/${name}`)]),
    ) as WebhookStormOutcome["received"];
    return { told, received, unverified, kills };
  } finally {
    over.abort();
    await Promise.all(instances.map((one) => one.end("SIGKILL")));
    await receiver.close();
  }
}

const lied = new Set<string>();

function answerOf({ path, id }: ReceivedWebhook, response: ServerResponse): void {
  switch (path) {
    case "/slow":
      setTimeout(() => response.writeHead(200).end(), SLOW_MS);
      return;
    case "/dead":
      response.writeHead(500).end();
      return;
    case "/lying":
      // Of some it has taken it says nothing that can be understood, once.
      if (/[0-3]$/.test(id) && !lied.has(id)) {
        lied.add(id);
        response.socket?.end(/[01]$/.test(id) ? "HTTP/1.1 2" : "");
        return;
      }
      response.writeHead(202).end();
      return;
    default:
      response.writeHead(204).end();
  }
}

/** One caller after another payment. Whatever is not answered is left as it is: that is what the events are for. */
async function live(url: () => string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const wanted = { amount: 1_000, currency: "EUR", paymentMethod: "tok_ok" };
      const { payment } = (await call(url(), "POST", "/payments", wanted)) as { payment?: { id: string } };
      if (payment === undefined) continue;
      await call(url(), "POST", `/payments/${payment.id}/capture`, {});
      await call(url(), "POST", `/payments/${payment.id}/refunds`, { amount: 400 });
      await pause(BETWEEN_PAYMENTS_MS);
    } catch {
      await pause(20);
    }
  }
}

async function call(url: string, method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(url + path, {
    method,
    headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
    signal: AbortSignal.timeout(10_000),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}

async function toldBy(url: string): Promise<readonly ToldEvent[]> {
  const all: ToldEvent[] = [];
  let after = "";
  for (;;) {
    const page = (await call(url, "GET", `/events?limit=100${after}`)) as {
      data: readonly ToldEvent[];
      nextCursor: string;
      hasMore?: boolean;
    };
    all.push(...page.data);
    if (page.data.length === 0) return all;
    after = `&after=${page.nextCursor}`;
  }
}

/** Until all that was told has arrived at all that take anything, or it takes too long. */
async function settled(
  read: () => Promise<readonly ToldEvent[]>,
  receiver: WebhookReceiver,
): Promise<readonly ToldEvent[]> {
  const deadline = Date.now() + SETTLE_MS;
  for (;;) {
    const told = await read();
    const isComplete = ["/fast", "/slow", "/lying"].every((path) => {
      const there = new Set(receiver.at(path).map(({ id }) => id));
      return told.every(({ id }) => there.has(id));
    });
    if (isComplete || Date.now() > deadline) return told;
    await pause(200);
  }
}
