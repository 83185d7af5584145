import { operationOf } from "../../../src/domain/payment/payment";
import type { OperationOutcome } from "../../../src/application/operations/operation-outcome";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import {
  StoreUnavailableError,
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { parseIdempotencyKey, type PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import type { OperationKind } from "../../../src/domain/payment/operation";
import { describeOnEveryStore, type OpenWorld } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

/**
 * What becomes of a save whose answer is lost: it is stored, it never arrives, it arrives when everybody has been
 * answered, or just before the next save.
 */
type Fate = "stored" | "gone" | "late" | "before the next";
type Save = PaymentRepository["save"];

const lost = () => new StoreUnavailableError("its answer was lost", { outcome: "unknown" });
const down = () => new StoreUnavailableError("down");

/** Stands in front of the world's store. */
class LosingStore {
  private fates: (Fate | "none lost")[] = [];
  private readonly onTheirWay: (() => Promise<unknown>)[] = [];
  private takesReadsDown = false;

  constructor(world: PaymentsWorld) {
    const real = world.context.payments;
    const payments = new Proxy(real, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        if (name === "save") return (...args: Parameters<Save>) => this.save(real, args);
        return (...args: unknown[]): unknown => {
          if (this.takesReadsDown && this.fates.length === 0) return Promise.reject(down());
          return value.apply(target, args);
        };
      },
    });
    Object.assign(world.context, { payments });
  }

  /** One for each save from now on. */
  loses(fates: readonly (Fate | "none lost")[], takesReadsDown = false): void {
    this.fates = [...fates];
    this.takesReadsDown = takesReadsDown;
  }

  async recovers(): Promise<void> {
    this.fates = [];
    this.takesReadsDown = false;
    await this.arrivals();
  }

  private async arrivals(): Promise<void> {
    for (const arrive of this.onTheirWay.splice(0)) await arrive();
  }

  private async save(real: PaymentRepository, args: Parameters<Save>) {
    const fate = this.fates.shift();
    if (fate === undefined && this.takesReadsDown) throw down();
    if (fate !== "late") await this.arrivals();
    if (fate === undefined || fate === "none lost") return real.save(...args);
    if (fate === "stored") await real.save(...args);
    // Whoever came meanwhile has changed what it was made for: then it is refused, and nobody hears of that.
    if (fate === "late" || fate === "before the next")
      this.onTheirWay.push(() => real.save(...args).catch(() => {}));
    throw lost();
  }
}

interface Case {
  readonly kind: OperationKind;
  /** The payment that it is asked for; null where it makes one. */
  readonly prepare: (world: PaymentsWorld) => Promise<PaymentId | null>;
  readonly ask: (world: PaymentsWorld, id: PaymentId | null, key: string) => Promise<OperationOutcome>;
  readonly moves: number;
}

const authorize = (world: PaymentsWorld, key: string) =>
  new AuthorizePayment(world.locks, world.context).execute(
    {
      idempotencyKey: parseIdempotencyKey(key),
      amount: money(1_000n, parseCurrency("EUR")),
      paymentMethod: "tok_ok",
      reference: null,
      metadata: {},
      expiresInSeconds: 3_600,
    },
    world.caller(),
  );

const cases: Readonly<Record<string, Case>> = {
  authorize: {
    kind: "authorize",
    prepare: async () => null,
    ask: (w, _id, key) => authorize(w, key),
    moves: 1,
  },
  capture: {
    kind: "capture",
    prepare: (w) => w.authorize(),
    ask: (w, id, key) => w.capture(id!, key),
    moves: 1,
  },
  void: { kind: "void", prepare: (w) => w.authorize(), ask: (w, id, key) => w.void(id!, key), moves: 1 },
  refund: { kind: "refund", prepare: (w) => w.captured(), ask: (w, id, key) => w.refund(id!, key), moves: 1 },
  import: {
    kind: "authorize",
    prepare: async () => null,
    ask: (w, _id, key) => w.import(key, `ext_1250_eur_${key}`),
    moves: 0,
  },
};

const scripts: readonly (readonly (Fate | "none lost")[])[] = [
  ["stored"],
  ["gone"],
  ["late"],
  ["before the next"],
  ["stored", "stored"],
  ["stored", "gone"],
  ["gone", "stored"],
  ["gone", "gone"],
  ["gone", "late"],
  ["late", "late"],
  ["before the next", "stored"],
  ["before the next", "gone"],
  ["stored", "none lost", "stored"],
  ["none lost", "stored"],
  ["none lost", "gone"],
  ["none lost", "late"],
];

/** What the first request was told: an operation, or how the store failed. */
async function told(asked: Promise<OperationOutcome>): Promise<string> {
  try {
    return (await asked).operation.status;
  } catch (error) {
    if (error instanceof StoreUnavailableError) return `effect ${error.outcome}`;
    throw error;
  }
}

async function operationsOf(world: PaymentsWorld, { kind }: Case, id: PaymentId | null, key: string) {
  const { payments } = world.context;
  const paymentId = id ?? (await payments.findByAuthorizeKey(world.merchant, parseIdempotencyKey(key)));
  if (paymentId === null) return [];
  const { facts } = await world.payment(paymentId);
  return facts.operations.filter((one) => one.kind === kind && one.idempotencyKey === key);
}

describeOnEveryStore("answers of the store that are lost", (openStore) => {
  const open = async (...args: Parameters<OpenWorld>) => {
    const world = await openStore(...args);
    return { world, store: new LosingStore(world) };
  };

  describe.each(Object.entries(cases))("%s", (_name, one) => {
    test("never tells that nothing was done while the intent is stored, and the key has one outcome", async () => {
      const { world, store } = await open();
      for (const [at, script] of scripts.entries()) {
        for (const takesReadsDown of [false, true]) {
          const key = `k-${at}-${takesReadsDown}`;
          const id = await one.prepare(world);
          store.loses(script, takesReadsDown);
          const first = await told(one.ask(world, id, key));
          await store.recovers();
          const stored = (await operationsOf(world, one, id, key)).length;
          const where = { script, takesReadsDown, first, stored };
          expect({ ...where, isTrue: first !== "effect none" || stored === 0 }).toEqual({
            ...where,
            isTrue: true,
          });

          world.clock.advance(10_000);
          await world.reconcile();
          const { operation, payment } = await one.ask(world, id, key);
          expect({ ...where, status: operation.status }).toEqual({ ...where, status: "succeeded" });
          expect(await operationsOf(world, one, id, key)).toHaveLength(1);
          const moved = await world.timesMoved(payment.facts.id, one.kind);
          expect({ ...where, moved }).toEqual({ ...where, moved: one.moves });
        }
      }
    }, 60_000);

    test("is looked for once, so that one lost answer is nobody's trouble", async () => {
      const { world, store } = await open();
      const id = await one.prepare(world);
      store.loses(["stored"]);
      expect(await told(one.ask(world, id, "k"))).toBe("succeeded");
    });

    test("tells that nobody knows where it cannot be looked for", async () => {
      const { world, store } = await open();
      for (const fate of ["stored", "gone", "late"] as const) {
        const id = await one.prepare(world);
        store.loses([fate], true);
        expect(await told(one.ask(world, id, `k-${fate}`))).toBe("effect unknown");
        await store.recovers();
      }
    });
  });

  describe("that a request did not reach the gateway", () => {
    const unreached = { outcome: "not_sent", reason: "connection refused" } as const;

    test.each([
      ["stored", false, "gateway_unavailable"],
      ["gone", false, "service_unavailable"],
      ["late", false, "service_unavailable"],
      ["stored", true, "service_unavailable"],
    ] as const)(
      "is never told as an outcome that follows: %s, with reads down %s, is %s",
      async (fate, takesReadsDown, code) => {
        const { world, store } = await open();
        const id = await world.authorize();
        store.loses(["none lost", fate], takesReadsDown);
        world.gateway.next("capture", async () => unreached);
        expect(await codeOf(world.capture(id, "k"))).toBe(code);
        await store.recovers();
        world.clock.advance(10_000);
        await world.reconcile();
        expect((await world.capture(id, "k")).operation.status).toBe("succeeded");
        expect(await world.timesMoved(id, "capture")).toBe(1);
      },
    );
  });

  describe("a verdict", () => {
    async function reviewed() {
      const { world, store } = await open();
      const id = await world.authorize("tok_capture_timeout_captured");
      const { operation } = await world.capture(id, "k");
      world.clock.advance(10_000);
      world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
      await world.reconcile();
      return { world, store, id, operationId: operation.id };
    }

    test("a verdict that is stored is answered as such", async () => {
      const { world, store, operationId } = await reviewed();
      store.loses(["stored"]);
      const { payment } = await world.review(operationId);
      expect(operationOf(payment, operationId)?.status).toBe("succeeded");
      expect(payment.facts.status).toBe("captured");
    });

    test.each([
      ["gone", false],
      ["late", false],
      ["stored", true],
      ["late", true],
    ] as const)("that nobody knows about is told so: %s, reads down: %s", async (fate, readsDown) => {
      const { world, store, id, operationId } = await reviewed();
      store.loses([fate], readsDown);
      await expect(world.review(operationId)).rejects.toMatchObject({ outcome: "unknown" });
      await store.recovers();
      if (fate === "gone") await world.review(operationId);
      expect((await world.payment(id)).facts.status).toBe("captured");
    });
  });

  test("a repeated request whose claim cannot be written is told that nobody knows yet", async () => {
    const { world, store } = await open();
    const id = await world.authorize();
    store.loses(["stored"], true);
    expect(await told(world.capture(id, "k"))).toBe("effect unknown");
    await store.recovers();
    world.clock.advance(10_000);
    for (const fate of ["gone", "stored"] as const) {
      store.loses([fate]);
      expect(await told(world.capture(id, "k"))).toBe("started");
      await store.recovers();
    }
    expect(world.gateway.calls.filter((call) => call === "capture")).toEqual([]);
    expect(await told(world.capture(id, "k"))).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("a write that the lost one has refused is not taken for another's", async () => {
    const { world, store } = await open();
    const id = await world.authorize();
    store.loses(["before the next"]);
    expect(await told(world.capture(id, "k"))).toBe("succeeded");
    const { version } = (await world.context.payments.find(id))!;
    await expect(world.context.payments.save(await world.payment(id), version - 1)).rejects.toThrow(
      VersionConflictError,
    );
    expect(await world.eventTypes(id)).toEqual(
      expect.arrayContaining(["capture.started", "capture.succeeded"]),
    );
  });
});
