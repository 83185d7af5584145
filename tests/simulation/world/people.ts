import type { GatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/gateway-ledger";
import { everyMisfortune } from "../../processes/histories/misfortunes";
import { merchant } from "../payment-life/life-commands";
import type { SeededRandom } from "../lease/seeded-random";
import type { Asked, Heard, Network } from "./network";
import type { Owner, VirtualTime } from "./time/virtual-time";

/** While ours are under way, and after them. */
const movedByOthers = [50, 300, 3_000].flatMap((ms) => [
  `tok_captured_elsewhere_${ms}`,
  `tok_voided_elsewhere_${ms}`,
  `tok_refunded_elsewhere_${ms}`,
]);

/** What the simulated gateway does beside what loses requests and answers. */
export const everyPaymentMethod: readonly [string, ...string[]] = [
  ...everyMisfortune,
  "tok_ok",
  "tok_processing",
  "tok_pending",
  "tok_refund_pending_then_failed",
  "tok_capture_pending_then_failed",
  "tok_error_500_stored",
  "tok_refund_fails_later_5000",
  "tok_dispute_500",
  ...movedByOthers,
];

/** What others do there, and disputes, are of authorizations that are made here. */
const CAN_BE_IMPORTED = /^tok_(?!authorize|decline|dispute|\w+_elsewhere)/;

type Wanted = Pick<Asked, "path" | "key" | "body">;

/** One payment, as its callers share it. */
export interface Order {
  readonly creation: Wanted;
  readonly paymentMethod: string;
  id: string | null;
  /** Requests whose last answer asks to come back, and those that got none. */
  readonly unfinished: Map<string, Wanted>;
}

export interface CallersParts {
  readonly time: VirtualTime;
  readonly random: SeededRandom;
  readonly network: Network;
  /** Requests of one payment, about; then callers go on to the next one. */
  readonly callsEach: number;
  readonly thinkMs: number;
  readonly paymentMethods: readonly [string, ...string[]];
}

const LONGEST_THINKING_FACTOR = 2;

/**
 * Callers who share few keys, disagree about amounts, hang up, come back much later and read in between, on a few payments at a
 * time.
 */
export class Callers {
  readonly orders: Order[] = [];
  private turns = 0;

  constructor(private readonly parts: CallersParts) {}

  /** One caller, until it is said to be enough. */
  async work(caller: Owner, isOver: () => boolean): Promise<void> {
    const { time, random, thinkMs } = this.parts;
    while (!isOver()) {
      await this.turn(caller);
      await time.sleep(random.next() * thinkMs * LONGEST_THINKING_FACTOR, caller);
    }
  }

  /** Asks again, once, for everything that has no last word. Resolves with what still has none. */
  async end(caller: Owner): Promise<string[]> {
    const open: string[] = [];
    for (const order of this.orders) {
      for (const one of order.unfinished.values()) {
        await this.ask(caller, order, one);
        if (order.unfinished.has(nameOf(one))) open.push(`${one.path} ${one.key} has no last word`);
      }
    }
    return open;
  }

  /** Everybody looks once more. */
  async lookAtAll(caller: Owner): Promise<void> {
    for (const { id } of this.orders) if (id !== null) await this.parts.network.ask(caller, read(id));
  }

  private async turn(caller: Owner): Promise<void> {
    const order = this.pickOrder();
    const { random, network } = this.parts;
    if (order.id === null) return this.ask(caller, order, order.creation);
    if (random.chance(0.3)) return void (await network.ask(caller, read(order.id)));
    if (random.chance(0.02)) return this.looksAround(caller, order.id);
    const unfinished = [...order.unfinished.values()];
    const again = unfinished[Math.floor(random.between(0, unfinished.length * 2 + 1))];
    return this.ask(caller, order, again ?? this.movement(order));
  }

  /** At what the judge of payments does not look at: that it is answered at all is what counts. */
  private async looksAround(caller: Owner, id: string): Promise<void> {
    const path = this.parts.random.pick([
      "/payments?limit=10",
      `/payments/${id}/events`,
      "/locks",
      "/readyz",
      "/webhook-endpoints",
    ]);
    await this.parts.network.ask(caller, { method: "GET", path, key: null, body: null });
  }

  private pickOrder(): Order {
    const { random, callsEach } = this.parts;
    const newest = Math.floor(this.turns / callsEach);
    this.turns += 1;
    while (this.orders.length <= newest) this.orders.push(this.newOrder(this.orders.length));
    return this.orders[random.chance(0.1) ? Math.floor(random.between(0, newest + 1)) : newest]!;
  }

  private newOrder(n: number): Order {
    const { random, paymentMethods } = this.parts;
    const expiry = random.chance(0.15) ? { expiresIn: random.pick([2, 5, 60]) } : {};
    const paymentMethod = random.pick(paymentMethods);
    const amount = 100 + n;
    const gatewayReference = `ext_${amount}_eur_order-${n}.for_${merchant}.${paymentMethod}`;
    const isImport = CAN_BE_IMPORTED.test(paymentMethod) && random.chance(0.2);
    const made = isImport ? { gatewayReference } : { amount, currency: "EUR", paymentMethod };
    const creation = { path: "/payments", key: `order-${n}`, body: { ...made, ...expiry } };
    return { creation, paymentMethod, id: null, unfinished: new Map() };
  }

  private movement({ id, creation }: Order): Wanted {
    const { random } = this.parts;
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

  private async ask(caller: Owner, order: Order, wanted: Wanted): Promise<void> {
    const { random, network, time } = this.parts;
    const patienceMs = random.chance(0.08) ? random.between(1, 150) : undefined;
    const answer = await network.ask(caller, { method: "POST", ...wanted }, patienceMs);
    const name = nameOf(wanted);
    learn(order, answer);
    if (answer !== null && isFinal(answer)) order.unfinished.delete(name);
    // Some never come back: what they have begun is ended without them.
    else if (order.id === null || !random.chance(0.3)) order.unfinished.set(name, wanted);
    if (answer !== null && answer.retryAfterMs > 0)
      await time.sleep(Math.min(answer.retryAfterMs, random.between(5, 300)), caller);
  }
}

function read(id: string): Asked {
  return { method: "GET", path: `/payments/${id}`, key: null, body: null };
}

function nameOf({ path, key, body }: Wanted): string {
  return `${path} ${key} ${JSON.stringify(body)}`;
}

function learn(order: Order, answer: Heard | null): void {
  const id: unknown = answer?.body?.payment?.id;
  if (typeof id === "string") order.id = id;
}

/** A server that cannot answer has said nothing, whether or not it says when to come back. */
function isFinal({ status, retryAfterMs }: Heard): boolean {
  return status !== 202 && status < 500 && retryAfterMs === 0;
}

interface ReviewCase {
  readonly operationId: string;
  readonly paymentId: string;
  readonly kind: string;
  readonly gatewayKey: string;
}

/** Persons who read the list of reviews and the gateway's own books, and decide what is so. */
export class Operators {
  verdicts = 0;

  constructor(
    private readonly network: Network,
    private readonly ledger: GatewayLedger,
    private readonly person: Owner,
  ) {}

  /** Resolves with how many cases there were. */
  async look(): Promise<number> {
    const list = await this.network.ask(this.person, {
      method: "GET",
      path: "/reviews?limit=50",
      key: null,
      body: null,
    });
    if (list?.status !== 200) return 0;
    const cases = list.body.data as readonly ReviewCase[];
    for (const one of cases) await this.decide(one);
    return cases.length;
  }

  private async decide({ operationId, paymentId, kind, gatewayKey }: ReviewCase): Promise<void> {
    const { hasMoved, isUndecided, reference } = await this.ledger.transaction(paymentId, async (tables) => {
      const entry = await tables.entry(gatewayKey);
      const answer =
        entry?.state.is === "recorded" || entry?.state.is === "failing" ? entry.state.answer : null;
      return {
        hasMoved: answer?.outcome === "succeeded",
        isUndecided: entry?.state.is === "deciding" || entry?.state.is === "refusing",
        reference: answer?.outcome === "succeeded" ? answer.reference : null,
      };
    });
    const verdict = {
      outcome: isUndecided ? "pending" : hasMoved ? "moved" : "not_moved",
      evidence: `the gateway's books, ${kind} ${gatewayKey}`,
      ...(reference !== null && kind === "authorize" && { gatewayReference: reference }),
    };
    const path = `/reviews/${operationId}`;
    const heard = await this.network.ask(this.person, { method: "POST", path, key: null, body: verdict });
    if (heard?.status === 200) this.verdicts += 1;
    if (
      heard?.body.code !== "review_contradicts_gateway" &&
      heard?.body.code !== "review_contradicts_payment"
    )
      return;
    const overrideReason = "the gateway's books were read";
    await this.network.ask(this.person, {
      method: "POST",
      path,
      key: null,
      body: { ...verdict, overrideReason },
    });
  }
}
