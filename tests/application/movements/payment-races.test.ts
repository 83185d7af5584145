import fc from "fast-check";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import type { PaymentId } from "../../../src/domain/identifiers";
import { isOpen, isRelease } from "../../../src/domain/payment/operation";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";
import { scheduled } from "../../support/worlds/scheduled";
import { size } from "../../support/test-size";

const PATIENCE_MS = 60_000;
const RUNS = size(60, 20);
const EXPIRES_IN_S = 60;

type Act = (world: PaymentsWorld, id: PaymentId) => Promise<unknown>;

/** All that can happen to one payment at once. Repeated keys are the callers who try again. */
const acts: Readonly<Record<string, Act>> = {
  capture: (world, id) => codeOf(world.capture(id, "a")),
  "capture again": (world, id) => codeOf(world.capture(id, "a")),
  "capture by another": (world, id) => codeOf(world.capture(id, "b", { amount: 400n })),
  void: (world, id) => codeOf(world.void(id, "a")),
  "void by another": (world, id) => codeOf(world.void(id, "b")),
  refund: (world, id) => codeOf(world.refund(id, "a", { amount: 300n })),
  "refund again": (world, id) => codeOf(world.refund(id, "a", { amount: 300n })),
  "refund of the rest": (world, id) => codeOf(world.refund(id, "b")),
  expire: (world) => world.expire(0),
  reconcile: (world) => world.reconcile(),
};

const locks: Readonly<Record<string, () => LockProvider>> = {
  "the in-memory lock": () => new MemoryLockProvider(),
  "no lock": () => new NoOpLockProvider(),
};

/** Every await of store and gateway is the scheduler's to order. */
async function raced(
  scheduler: fc.Scheduler,
  lock: LockProvider,
  token: string,
  payments = new InMemoryPaymentRepository(),
) {
  const calm = new PaymentsWorld({ payments });
  const world = new PaymentsWorld({ payments, locks: lock });
  const id = await calm.authorize(token, 1_000n, EXPIRES_IN_S);
  Object.assign(world.context, {
    payments: scheduled(scheduler, payments),
    gateway: scheduled(scheduler, calm.gateway),
    clock: calm.clock,
  });
  return { world, calm, id };
}

/** What the gateway did is what the store says, and no sum exceeds what it is a part of. */
async function expectAgreement(world: PaymentsWorld, id: PaymentId): Promise<void> {
  const payment = await world.payment(id);
  const moves = await world.simulated.moves(id);
  const succeeded = payment.facts.operations.filter(({ status }) => status === "succeeded");
  // A release that finds the money gone ends well, and moves none.
  const moved = succeeded.filter((one) => !isRelease(one) || one.gatewayReference !== null);
  expect(moves.map(({ kind, gatewayKey }) => `${kind} ${gatewayKey.split(".")[0]}`).sort()).toEqual(
    moved.map((one) => `${one.kind} ${one.id}`).sort(),
  );
  const sum = (kind: string) =>
    moves.filter((move) => move.kind === kind).reduce((total, { amount }) => total + amount.amount, 0n);
  expect(moves.filter(({ kind }) => kind === "capture").length).toBeLessThanOrEqual(1);
  expect(sum("capture")).toBeLessThanOrEqual(1_000n);
  expect(sum("refund")).toBeLessThanOrEqual(sum("capture"));
  expect(sum("capture") > 0n && sum("void") > 0n).toBe(false);
  expect(payment.facts.operations.filter(isOpen)).toEqual([]);
}

const tokens = [
  "tok_ok",
  "tok_timeout_captured",
  "tok_timeout_not_captured",
  "tok_late_4000",
  "tok_void_timeout_captured",
  "tok_refund_timeout_captured",
  "tok_unreachable",
  "tok_authorization_gone",
];

describe.each(Object.keys(locks))("with %s", (name) => {
  test(
    "capture, void, refund, expiry and reconciliation at once: one of them decides, and the money agrees",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.constantFrom(...tokens),
          fc.uniqueArray(fc.constantFrom(...Object.keys(acts)), { minLength: 3, maxLength: 7 }),
          // Shortly before the authorization's end, at it, and long before.
          fc.constantFrom(0, EXPIRES_IN_S * 1_000 - 1, EXPIRES_IN_S * 1_000),
          async (scheduler, token, chosen, laterMs) => {
            const { world, calm, id } = await raced(scheduler, locks[name]!(), token);
            calm.clock.advance(laterMs);
            await scheduler.waitFor(Promise.allSettled(chosen.map((act) => acts[act]!(world, id))));
            for (let pass = 0; pass < 3; pass += 1) {
              calm.clock.advance(150_000);
              await scheduler.waitFor(Promise.all([world.reconcile(), world.reconcile()]));
            }
            await expectAgreement(calm, id);
          },
        ),
        { numRuns: RUNS },
      );
    },
    PATIENCE_MS,
  );

  test(
    "refunds at once never give back more than was captured",
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.scheduler(),
          fc.array(fc.tuple(fc.constantFrom("a", "b", "c"), fc.constantFrom(300n, 700n)), {
            minLength: 2,
            maxLength: 6,
          }),
          async (scheduler, wishes) => {
            const { world, calm, id } = await raced(scheduler, locks[name]!(), "tok_ok");
            await calm.capture(id, "c");
            await scheduler.waitFor(
              Promise.allSettled(wishes.map(([key, amount]) => world.refund(id, key, { amount }))),
            );
            calm.clock.advance(10_000);
            await scheduler.waitFor(world.reconcile());
            await expectAgreement(calm, id);
          },
        ),
        { numRuns: RUNS },
      );
    },
    PATIENCE_MS,
  );

  test(
    "a void and a capture at once: one of them, never both",
    async () => {
      const ends = new Set<string>();
      await fc.assert(
        fc.asyncProperty(fc.scheduler(), async (scheduler) => {
          const { world, calm, id } = await raced(scheduler, locks[name]!(), "tok_ok");
          const both = [codeOf(world.void(id, "v")), codeOf(world.capture(id, "c"))];
          const codes = await scheduler.waitFor(Promise.all(both));
          calm.clock.advance(10_000);
          await scheduler.waitFor(world.reconcile());
          await expectAgreement(calm, id);
          expect(codes.filter((code) => code === "succeeded").length).toBeLessThanOrEqual(1);
          ends.add((await calm.payment(id)).facts.status);
        }),
        { numRuns: RUNS },
      );
      expect([...ends].sort()).toEqual(["captured", "voided"]);
    },
    PATIENCE_MS,
  );
});

test(
  "imports of one authorization at once make one payment, in every order",
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const { world, calm } = await raced(scheduler, new NoOpLockProvider(), "tok_ok");
        const reference = "ext_500_eur_browser";
        const wishes = ["a", "a", "b", "c"].map((key) =>
          codeOf(world.import(key, reference, calm.simulated)),
        );
        const codes = await scheduler.waitFor(Promise.all(wishes));
        const { data } = await calm.context.payments.list({ merchant: calm.merchant, limit: 10 });
        const imported = data.filter(({ facts }) => facts.authorizationReference === reference);
        expect(imported).toHaveLength(1);
        expect(codes.filter((code) => code === "succeeded").length).toBeGreaterThanOrEqual(1);
        expect(
          codes.filter((code) => code === "authorization_already_imported").length,
        ).toBeGreaterThanOrEqual(2);
      }),
      { numRuns: RUNS },
    );
  },
  PATIENCE_MS,
);

test(
  "without lock, version and indexes the agreement breaks: the races can fail",
  async () => {
    let broken = 0;
    const race = fc.asyncProperty(fc.scheduler(), async (scheduler) => {
      const unguarded = new InMemoryPaymentRepository([]);
      const { world, calm, id } = await raced(scheduler, new NoOpLockProvider(), "tok_ok", unguarded);
      const both = [world.capture(id, "a"), world.capture(id, "b")];
      await scheduler.waitFor(Promise.allSettled(both));
      await expectAgreement(calm, id).catch(() => (broken += 1));
    });
    await fc.assert(race, { numRuns: RUNS, seed: 20_260_301 });
    expect(broken).toBeGreaterThan(0);
  },
  PATIENCE_MS,
);
