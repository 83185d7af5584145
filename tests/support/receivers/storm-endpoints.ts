import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { WebhookReceiver, type ReceivedWebhook } from "./webhook-receiver";

/** Of a server with `HOLDFAST_SECRETS_KEY`, which PostgreSQL needs besides. */
export const TO_THIS_HOST = ["--webhooks-allow", "http,private"];

const NAMES = ["fast", "slow", "dead", "lying"] as const;
type Name = (typeof NAMES)[number];

/** An event as the feed and a webhook show it. */
export interface DeliveredEvent {
  readonly id: string;
  readonly type: string;
  readonly data: { readonly payment?: { readonly id: string }; readonly sequence?: number };
}

/** A loan of a killed instance, a few retries after 5 s, one after the other, and a slow machine. */
const ARRIVED_WITHIN_MS = 120_000;

/** Four endpoints for a storm: one that is fast, one slow, one dead, and one that lies about what it has taken. */
export class StormEndpoints {
  /** What the official package did not verify when it came. */
  readonly unverified: string[] = [];
  private readonly secrets = new Map<string, string>();
  private readonly liedAbout = new Set<string>();

  private constructor(
    private readonly receiver: WebhookReceiver,
    private readonly slowMs: number,
  ) {
    receiver.answer = (webhook, response) => {
      this.verify(webhook);
      this.answer(webhook, response);
    };
  }

  /**
   * `slowMs`: how long the slow one takes for each. Four at once should take no longer than the storm makes four events, or
   * its line only grows.
   */
  static async open(slowMs: number): Promise<StormEndpoints> {
    return new StormEndpoints(await WebhookReceiver.open(), slowMs);
  }

  /** Each is to be told of everything that happens from now on. */
  async attachTo(server: string): Promise<void> {
    for (const name of NAMES) {
      const response = await fetch(`${server}/webhook-endpoints`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ url: `${this.receiver.url}/${name}` }),
      });
      const { secret } = (await response.json()) as { secret?: string };
      if (secret === undefined) throw new Error(`${name} was not made: ${response.status}`);
      this.secrets.set(`/${name}`, secret);
    }
  }

  /** Until all that was told has arrived at all that take anything, or it takes too long. Resolves with what was told. */
  async haveArrived(told: () => Promise<readonly DeliveredEvent[]>): Promise<readonly DeliveredEvent[]> {
    const deadline = Date.now() + ARRIVED_WITHIN_MS;
    for (;;) {
      const events = await told();
      const isComplete = (["fast", "slow", "lying"] as const).every((name) => {
        const there = new Set(this.received(name).map(({ id }) => id));
        return events.every(({ id }) => there.has(id));
      });
      if (isComplete || Date.now() > deadline) return events;
      await pause(200);
    }
  }

  /** Each event at least once, none invented, each payment's order kept, and the same body each time. */
  expectDelivered(told: readonly DeliveredEvent[]): void {
    const byId = new Map(told.map((event) => [event.id, event]));
    expect(this.unverified).toEqual([]);
    for (const name of NAMES) {
      const all = this.received(name);
      const arrived = new Set(all.map(({ id }) => id));
      const missing = told.filter(({ id }) => !arrived.has(id)).map(({ id, type }) => `${type} ${id}`);
      // What is dead has taken nothing, so a payment's later events still wait.
      if (name !== "dead") expect({ name, missing }).toEqual({ name, missing: [] });
      const invented = [...arrived].filter((id) => !byId.has(id));
      expect({ name, invented }).toEqual({ name, invented: [] });
      const bodies = new Map<string, string>();
      for (const { id, body } of all) {
        expect(JSON.parse(body)).toEqual(byId.get(id));
        expect({ id, body }).toEqual({ id, body: bodies.get(id) ?? body });
        bodies.set(id, body);
      }
      // Else nothing was ever tried again, and the rest shows little.
      if (name === "lying" || name === "dead") expect(all.length).toBeGreaterThan(arrived.size);
      expect({ name, outOfOrder: outOfOrder(all) }).toEqual({ name, outOfOrder: [] });
    }
  }

  close(): Promise<void> {
    return this.receiver.close();
  }

  private received(name: Name): readonly ReceivedWebhook[] {
    return this.receiver.at(`/${name}`);
  }

  private verify({ path, id, body, headers }: ReceivedWebhook): void {
    try {
      new Webhook(this.secrets.get(path) ?? "").verify(body, { ...headers });
    } catch (error) {
      this.unverified.push(`${path} ${id}: ${String(error)}`);
    }
  }

  private answer({ path, id }: ReceivedWebhook, response: ServerResponse): void {
    switch (path) {
      case "/slow":
        setTimeout(() => response.writeHead(200).end(), this.slowMs);
        return;
      case "/dead":
        response.writeHead(500).end();
        return;
      case "/lying":
        // Of some it has taken it says nothing that can be understood, once.
        if (/[0-3]$/.test(id) && !this.liedAbout.has(id)) {
          this.liedAbout.add(id);
          response.socket?.end(/[01]$/.test(id) ? "HTTP/1.1 2" : "");
          return;
        }
        response.writeHead(202).end();
        return;
      default:
        response.writeHead(204).end();
    }
  }
}

/** Of each payment, by when each event arrived first. */
function outOfOrder(all: readonly ReceivedWebhook[]): string[] {
  const highest = new Map<string, number>();
  const seen = new Set<string>();
  return all.flatMap(({ id, body }) => {
    const { payment, sequence } = (JSON.parse(body) as DeliveredEvent).data;
    if (seen.has(id) || payment === undefined || sequence === undefined) return [];
    seen.add(id);
    const before = highest.get(payment.id) ?? 0;
    highest.set(payment.id, Math.max(before, sequence));
    return sequence === before + 1 ? [] : [`${payment.id}: ${sequence} after ${before}`];
  });
}
