import fc from "fast-check";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import type { PaymentRepository } from "../../../src/application/ports/payment-repository";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { inMemoryGuards } from "../../../src/infrastructure/persistence/memory/in-memory-guards";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { versionBlind } from "../../contracts/payment-repositories/version-blind-repository";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";
import { scheduled } from "../../support/worlds/scheduled";
import { size } from "../../support/test-size";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";

const RUNS = size(60, 12);

type Guards = "all" | "version" | "indexes" | "none";
interface OpenRepository {
  readonly payments: PaymentRepository;
  readonly close: () => Promise<void>;
}

const uniqueIndexes = [
  "one_open_operation",
  "one_succeeded_capture",
  "one_operation_per_key",
  "one_event_per_sequence",
];

/** Each store, with all of its guards or some of them taken away. */
const stores: Record<string, (guards: Guards) => Promise<OpenRepository>> = {
  memory: async (guards) => {
    const kept = inMemoryGuards.filter(({ name }) =>
      name === "version"
        ? guards === "all" || guards === "version"
        : guards === "all" || guards === "indexes",
    );
    return { payments: new InMemoryPaymentRepository(kept), close: async () => {} };
  },
  SQLite: async (guards) => {
    const { sqlite, close } = await temporarySqlite();
    const repository = new SqlitePaymentRepository(sqlite);
    if (guards === "version" || guards === "none") {
      for (const index of uniqueIndexes) sqlite.execute(`DROP INDEX ${index}`);
    }
    const blind = guards === "indexes" || guards === "none";
    return { payments: blind ? versionBlind(repository) : repository, close };
  },
};

/** A world in which the scheduler moves every await of the store and of the gateway. */
function raced(scheduler: fc.Scheduler, locks: LockProvider, payments: PaymentRepository): PaymentsWorld {
  const world = new PaymentsWorld({ locks, payments });
  Object.assign(world.context, {
    payments: scheduled(scheduler, payments),
    gateway: scheduled(scheduler, world.gateway),
  });
  return world;
}

async function authorizedIn(world: PaymentsWorld, expiresInSeconds = 3_600) {
  const calm = new PaymentsWorld({ payments: world.context.payments });
  Object.assign(calm.context, { ...world.context, locks: new NoOpLockProvider() });
  return calm.authorize("tok_ok", 1_000n, expiresInSeconds);
}

describe("with the in-memory lock", () => {
  test("many callers with one key make one capture and get equal answers", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const world = raced(scheduler, new MemoryLockProvider(), new InMemoryPaymentRepository());
        const id = await scheduler.waitFor(authorizedIn(world));
        const callers = Array.from({ length: 6 }, () => world.capture(id, "k"));
        const answers = await scheduler.waitFor(Promise.all(callers));
        for (const { operation, payment } of answers) {
          expect(operation).toEqual(answers[0]?.operation);
          expect(payment.facts).toEqual(answers[0]?.payment.facts);
        }
        expect(answers[0]?.operation.status).toBe("succeeded");
        expect(world.gateway.calls).toEqual(["authorize", "capture"]);
      }),
      { numRuns: RUNS },
    );
  });

  test("many callers with keys of their own: one captures, the rest are told so", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const world = raced(scheduler, new MemoryLockProvider(), new InMemoryPaymentRepository());
        const id = await scheduler.waitFor(authorizedIn(world));
        const callers = Array.from({ length: 6 }, (_, caller) => codeOf(world.capture(id, `k${caller}`)));
        const codes = await scheduler.waitFor(Promise.all(callers));
        expect(codes.sort()).toEqual([...Array<string>(5).fill("payment_already_captured"), "succeeded"]);
        expect(await scheduler.waitFor(world.timesCaptured(id))).toBe(1);
      }),
      { numRuns: RUNS },
    );
  });

  test("a section that fails leaves the lock to the next", async () => {
    const locks = new MemoryLockProvider();
    const payments = new InMemoryPaymentRepository();
    const world = new PaymentsWorld({ locks, payments });
    const id = await world.authorize();
    let failures = 1;
    Object.assign(world.context, {
      payments: new Proxy(payments, {
        get: (target, name, receiver) =>
          name === "save" && failures-- > 0
            ? () => Promise.reject(new Error("the disk is on fire"))
            : (Reflect.get(target, name, receiver) as unknown),
      }),
    });
    const [first, second] = await Promise.allSettled([world.capture(id, "k"), world.capture(id, "other")]);
    expect(first).toMatchObject({ status: "rejected", reason: { message: "the disk is on fire" } });
    expect(second.status).toBe("fulfilled");
    expect(locks.size).toBe(0);
  });

  test("capture against expiry: one of them wins, whole, and before the instant it is never the expiry", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.constantFrom(-1, 0), async (scheduler, offsetMs) => {
        const world = raced(scheduler, new MemoryLockProvider(), new InMemoryPaymentRepository());
        const id = await scheduler.waitFor(authorizedIn(world, 60));
        world.clock.advance(60_000 + offsetMs);
        const [code] = await scheduler.waitFor(
          Promise.all([codeOf(world.capture(id, "k")), world.expire(0), world.reconcile()]),
        );
        const { status } = (await scheduler.waitFor(world.payment(id))).facts;
        expect([code, status]).toEqual(
          offsetMs < 0 ? ["succeeded", "captured"] : ["payment_expired", "expired"],
        );
        expect(await scheduler.waitFor(world.timesCaptured(id))).toBe(offsetMs < 0 ? 1 : 0);
        expect(world.errors).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

describe.each(Object.keys(stores))("with the lock switched off, on %s", (store) => {
  // Each run has a payment of its own in one store: opening a database takes longer than a race in it.
  /** How many captures the gateway saw, at worst, over many orders of events. */
  async function worstOf(guards: Guards, numRuns: number): Promise<number> {
    let worst = 0;
    const { payments, close } = await stores[store]!(guards);
    const race = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      // Found is found: the rest of the runs has nothing to add.
      if (worst > 1) return;
      const world = raced(scheduler, new NoOpLockProvider(), payments);
      const id = await scheduler.waitFor(authorizedIn(world));
      const keys = ["a", "b", "a", "c"];
      await scheduler.waitFor(Promise.allSettled(keys.map((key) => world.capture(id, key))));
      for (let pass = 0; pass < 3; pass += 1) {
        world.clock.advance(40_000);
        await scheduler.waitFor(Promise.allSettled([world.reconcile(), world.reconcile()]));
      }
      worst = Math.max(worst, await world.timesCaptured(id));
    });
    try {
      await fc.assert(race, { numRuns, seed: 20_260_301 });
    } finally {
      await close();
    }
    return worst;
  }

  test.each<Guards>(["all", "version", "indexes"])(
    "guards %s: at most one capture gets through",
    async (guards) => {
      expect(await worstOf(guards, RUNS)).toBe(1);
    },
  );

  test("without the version check and without the indexes a double capture gets through", async () => {
    expect(await worstOf("none", 500)).toBeGreaterThan(1);
  }, 60_000);
});
