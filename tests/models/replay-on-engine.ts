import { setImmediate as nextTurn } from "node:timers/promises";
import type { FindAnswer, GatewayAnswer, PaymentGateway } from "../../src/application/ports/payment-gateway";
import { MemoryLockProvider } from "../../src/infrastructure/locking/memory/memory-lock-provider";
import { PaymentsWorld } from "../support/worlds/payments-world";

const TURNS = 20;
/** More than the engine leaves between two questions about one operation, and than its first question is put off. */
const BETWEEN_STEPS_MS = 10_000;

/**
 * Lets the real use cases of capture and reconciliation do what a trace of the model says, one step after the other. Answers
 * how often the gateway moved money. Where the engine does not do a step, it goes on in its own way.
 */
export async function replay(
  trace: readonly string[],
  { absenceCloses }: { readonly absenceCloses: boolean },
): Promise<number> {
  const gateway = new NaiveGateway(absenceCloses);
  const world = new PaymentsWorld({ locks: new MemoryLockProvider(), gateway, withoutPictures: true });
  const id = await world.authorize();
  const beginnings: Readonly<Record<string, () => Promise<unknown>>> = {
    0: () => world.capture(id, "first"),
    1: () => world.capture(id, "second"),
    2: () => world.reconcile(),
  };
  const running: Promise<unknown>[] = [];
  for (const step of trace) {
    const [who, does] = step.split(" ") as [string, string];
    if (does === "enters") {
      world.clock.advance(BETWEEN_STEPS_MS);
      running.push((beginnings[who] as () => Promise<unknown>)().catch(() => undefined));
    }
    if (does === "lands") gateway.landOldest();
    if (does === "gives") gateway.silence();
    if (does === "hears") gateway.answer();
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  }
  // What the trace leaves under way comes to its end, late requests among it.
  for (let left = 0; left < trace.length; left += 1) {
    gateway.landOldest();
    gateway.answer();
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
  }
  await Promise.all(running);
  return gateway.moved;
}

/** Honours a key, and captures again under another one. A request is under way until the trace lets it land. */
class NaiveGateway implements PaymentGateway {
  readonly remembersKeysForMs = 86_400_000;
  moved = 0;
  private readonly recorded = new Set<string>();
  private readonly underWay: string[] = [];
  private readonly waiting: { readonly key: string; readonly hear: (answer: GatewayAnswer) => void }[] = [];

  constructor(private readonly absenceCloses: boolean) {}

  authorize(): Promise<GatewayAnswer> {
    return Promise.resolve({ outcome: "succeeded", reference: "authorization" });
  }

  capture({ gatewayKey }: { readonly gatewayKey: string }): Promise<GatewayAnswer> {
    this.underWay.push(gatewayKey);
    return new Promise((hear) => this.waiting.push({ key: gatewayKey, hear }));
  }

  void(): Promise<GatewayAnswer> {
    return Promise.resolve({ outcome: "unknown", reason: "no voids here" });
  }

  refund(): Promise<GatewayAnswer> {
    return this.void();
  }

  async find({ gatewayKey }: { readonly gatewayKey: string }): Promise<FindAnswer> {
    if (this.recorded.has(gatewayKey)) return { outcome: "succeeded", reference: gatewayKey };
    return this.absenceCloses ? { outcome: "declined", reason: "not known" } : { outcome: "absent" };
  }

  landOldest(): void {
    const key = this.underWay.shift();
    if (key === undefined || this.recorded.has(key)) return;
    this.recorded.add(key);
    this.moved += 1;
  }

  silence(): void {
    this.waiting.shift()?.hear({ outcome: "unknown", reason: "no answer" });
  }

  answer(): void {
    const [first] = this.waiting;
    if (first === undefined || !this.recorded.has(first.key)) return this.silence();
    this.waiting.shift();
    first.hear({ outcome: "succeeded", reference: first.key });
  }
}
