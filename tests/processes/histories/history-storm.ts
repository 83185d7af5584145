import { setTimeout as pause } from "node:timers/promises";
import { SeededRandom } from "../../simulation/lease/seeded-random";
import type { HistoryRecorder } from "../../support/linearizability/history/history-recorder";
import { isFinal, SteadyClient } from "../../support/program/steady-client";
import type { StormServers } from "./storm-servers";

export interface HistoryStormOptions {
  readonly seed: number;
  readonly recorder: HistoryRecorder;
  readonly servers: StormServers;
  readonly callers: number;
  /** Requests of one payment, about; then the callers go on to the next one. */
  readonly callsEach: number;
  /** For how long a caller does nothing after each request. Default: not at all. */
  readonly betweenTurnsMs?: number;
  readonly paymentMethods: readonly [string, ...string[]];
  /** What happens meanwhile. The storm lasts as long. */
  readonly trouble: () => Promise<void>;
  /** How often money moved, by the gateway itself. Default: the simulated gateway is asked over HTTP. */
  readonly moves?: (paymentId: string) => Promise<void>;
}

interface Wanted {
  readonly path: string;
  readonly key: string;
  readonly body: object;
}

/** One payment of a storm, as its callers share it. */
interface Order {
  readonly creation: Wanted;
  id: string | null;
  /** Requests whose last answer asks to come back, and those that got none. */
  readonly unfinished: Map<string, Wanted>;
}

interface CaptureResult {
  readonly status: number;
  readonly headers: { readonly "Retry-After"?: number };
}

const ENDED_AT_ONCE = 24;
const MOST_IN_A_BATCH = 6;
const MOST_TRIES = 100;
const MOST_WAIT_MS = 2_000;
const LOOKS = 400;
const BETWEEN_LOOKS_MS = 250;
const OPEN = new Set(["authorizing", "capturing", "voiding", "refunding"]);

/**
 * Callers who share few keys, disagree about amounts, hang up, come back much later and read in between, on a few payments at
 * a time, while there is trouble. Afterwards all that was left open is asked for again, and everything is read once more.
 */
export async function historyStorm(options: HistoryStormOptions): Promise<void> {
  const { recorder, servers, callers, betweenTurnsMs = 0, trouble } = options;
  const client = new SteadyClient(recorder);
  const storm = new Storm(options, client);
  let isOver = false;
  try {
    const working = Array.from({ length: callers }, async () => {
      while (!isOver) {
        await storm.turn();
        if (betweenTurnsMs > 0) await pause(betweenTurnsMs);
      }
    });
    try {
      await trouble();
    } finally {
      isOver = true;
      await Promise.all(working);
    }
    await servers.allThere();
    const orders = [...storm.orders];
    await Promise.all(
      Array.from({ length: ENDED_AT_ONCE }, async () => {
        for (let order = orders.pop(); order !== undefined; order = orders.pop()) await storm.end(order);
      }),
    );
  } finally {
    client.close();
  }
}

/** So long, and until so many more calls had an answer: a slow machine sees as much as a quick one. */
export async function lull(
  recorder: HistoryRecorder,
  lasting: { ms: number; answers: number },
): Promise<void> {
  const target = recorder.answered + lasting.answers;
  await pause(lasting.ms);
  while (recorder.answered < target) await pause(20);
}

class Storm {
  readonly orders: Order[] = [];
  private readonly random: SeededRandom;
  private turns = 0;

  constructor(
    private readonly options: HistoryStormOptions,
    private readonly client: SteadyClient,
  ) {
    this.random = new SeededRandom(options.seed);
  }

  async turn(): Promise<void> {
    const order = this.pickOrder();
    const { random } = this;
    if (order.id === null) return this.ask(order, order.creation);
    if (random.chance(0.3)) return this.read(`/payments/${order.id}`);
    if (random.chance(0.06)) return this.moves(order.id);
    if (random.chance(0.06)) return this.askForMany();
    const unfinished = [...order.unfinished.values()];
    const again = unfinished[Math.floor(random.between(0, unfinished.length * 2 + 1))];
    return this.ask(order, again ?? this.movement(order));
  }

  /** Until each key has its last word and nothing is open; then what everybody can see. */
  async end(order: Order): Promise<void> {
    if (order.id === null) await this.untilAnswered(order, order.creation);
    const unfinished = [...order.unfinished.values()];
    await Promise.all(unfinished.map((wanted) => this.untilAnswered(order, wanted)));
    if (order.id === null) return;
    for (let look = 0; ; look += 1) {
      const { payment } = await this.client.get<{ payment: { status: string } }>(
        this.options.servers.url(look),
        `/payments/${order.id}`,
      );
      if (!OPEN.has(payment.status)) break;
      if (look === LOOKS) throw new Error(`${order.id} stays ${payment.status}`);
      await pause(BETWEEN_LOOKS_MS);
    }
    await this.moves(order.id);
  }

  private pickOrder(): Order {
    const newest = Math.floor(this.turns / this.options.callsEach);
    this.turns += 1;
    while (this.orders.length <= newest) this.orders.push(this.newOrder(this.orders.length));
    return this.orders[this.random.chance(0.1) ? Math.floor(this.random.between(0, newest + 1)) : newest]!;
  }

  private newOrder(n: number): Order {
    const { seed, paymentMethods } = this.options;
    const expiry = this.random.chance(0.15) ? { expiresIn: 2 } : {};
    const paymentMethod = this.random.pick(paymentMethods);
    const body = { amount: 100 + n, currency: "EUR", paymentMethod, ...expiry };
    const creation = { path: "/payments", key: `order-${seed}-${n}`, body };
    return { creation, id: null, unfinished: new Map() };
  }

  private movement({ id, creation }: Order): Wanted {
    const { random } = this;
    if (random.chance(0.05)) return creation;
    const key = `key-${Math.floor(random.between(0, 4))}`;
    if (random.chance(0.04)) return { path: `/payments/${id}/void`, key, body: {} };
    if (random.chance(0.55)) {
      const body = random.chance(0.15) ? { amount: random.pick([60, 5_000]) } : {};
      return { path: `/payments/${id}/capture`, key, body };
    }
    const body = random.chance(0.2) ? {} : { amount: random.pick([7, 20, 45]) };
    return { path: `/payments/${id}/refunds`, key, body };
  }

  private async ask(order: Order, wanted: Wanted): Promise<void> {
    const { client, random } = this;
    const patienceMs = random.chance(0.08) ? random.between(1, 150) : undefined;
    const url = this.options.servers.url(Math.floor(random.between(0, 100)));
    const answer = await client.post(url, wanted.path, wanted.key, wanted.body, patienceMs);
    const name = nameOf(wanted);
    if (answer !== null && answer.paymentId !== "") order.id = answer.paymentId;
    if (answer !== null && isFinal(answer)) order.unfinished.delete(name);
    else order.unfinished.set(name, wanted);
    // Callers who come back at once would only count answers.
    if (answer !== null && answer.retryAfterMs > 0) await pause(random.between(5, 100));
  }

  /** Captures of several payments in one request, with keys that requests for one payment have, too. */
  private async askForMany(): Promise<void> {
    const { client, random } = this;
    const there = this.orders.slice(-MOST_IN_A_BATCH).filter(({ id }) => id !== null);
    const items = there.map((order) => ({ order, key: `key-${Math.floor(random.between(0, 4))}` }));
    const captures = items.map(({ order, key }) => ({ paymentId: order.id, idempotencyKey: key }));
    const url = this.options.servers.url(Math.floor(random.between(0, 100)));
    const answer = await client.post(url, "/captures", null, { captures });
    const { results = [] } = JSON.parse(answer?.said ?? "{}") as { results?: readonly CaptureResult[] };
    for (const [at, { order, key }] of items.entries()) {
      const wanted = { path: `/payments/${order.id}/capture`, key, body: {} };
      const result = results[at];
      const isOver =
        result !== undefined && result.status !== 202 && result.headers["Retry-After"] === undefined;
      if (isOver) order.unfinished.delete(nameOf(wanted));
      else order.unfinished.set(nameOf(wanted), wanted);
    }
  }

  private async untilAnswered(order: Order, wanted: Wanted): Promise<void> {
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const url = this.options.servers.url(tries);
      const answer = await this.client.post(url, wanted.path, wanted.key, wanted.body);
      if (answer !== null && answer.paymentId !== "") order.id = answer.paymentId;
      if (answer !== null && isFinal(answer)) return;
      await pause(Math.min(answer?.retryAfterMs ?? 0, MOST_WAIT_MS));
    }
    throw new Error(`${wanted.path} ${wanted.key} has no last word`);
  }

  private async read(path: string): Promise<void> {
    const url = this.options.servers.url(Math.floor(this.random.between(0, 100)));
    // What a server that dies does not answer is in the history, too.
    await this.client.get(url, path).catch(() => pause(20));
  }

  private moves(id: string): Promise<void> {
    return this.options.moves?.(id) ?? this.read(`/gateway/payments/${id}`);
  }
}

function nameOf({ path, key, body }: Wanted): string {
  return `${path} ${key} ${JSON.stringify(body)}`;
}
