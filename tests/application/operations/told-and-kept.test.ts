import { LockLostError } from "../../../src/application/ports/lock-errors";
import type { LockProvider } from "../../../src/application/ports/lock-provider";
import {
  StoreUnavailableError,
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import type { PaymentId } from "../../../src/domain/identifiers";
import { openOperationOf } from "../../../src/domain/payment/payment";
import { detached } from "../../../src/infrastructure/locking/hold/reentrancy";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const unknown = { outcome: "unknown", reason: "no answer" } as const;

let world: PaymentsWorld;
beforeEach(() => (world = new PaymentsWorld()));

/** The store's saves from now on are answered by `save`, which may ask the real one; returns how to put an end to that. */
function answerSaves(save: (real: () => Promise<unknown>) => Promise<unknown>): () => void {
  const { payments } = world.context;
  const answered = Object.create(payments) as PaymentRepository;
  answered.save = ((...parts: Parameters<PaymentRepository["save"]>) =>
    save(() => payments.save(...parts))) as PaymentRepository["save"];
  Object.assign(world.context, { payments: answered });
  return () => Object.assign(world.context, { payments });
}

const lastEvent = async (id: PaymentId, type: string) =>
  (await world.context.payments.events(id))!.findLast((event) => event.type === type)?.data;

async function captureInReview(): Promise<PaymentId> {
  const id = await world.authorize();
  world.gateway.next("capture", async () => ({ outcome: "unknown", reason: "no answer" }));
  await world.capture(id, "k");
  world.gateway.next("find", async () => ({ outcome: "mismatch", evidence: "another amount" }));
  world.clock.advance(10_000);
  await world.reconcile();
  expect(openOperationOf(await world.payment(id))).toMatchObject({ status: "needs_review" });
  return id;
}

describe("what the store does not take is asked again", () => {
  const failures = [
    ["it is down", () => new StoreUnavailableError("down"), 0],
    ["somebody else was faster", (id: PaymentId) => new VersionConflictError(id), 0],
    ["of a mistake", () => new Error("a mistake"), 1],
  ] as const;

  test.each(failures)(
    "a question in review that cannot be written down because %s",
    async (_, failure, errors) => {
      const id = await captureInReview();
      const before = openOperationOf(await world.payment(id));
      world.gateway.answersQuestions(unknown);
      world.clock.advance(HOUR);
      const restore = answerSaves(() => Promise.reject(failure(id)));
      await world.reconcile();
      expect(world.errors).toHaveLength(errors);
      restore();
      expect(openOperationOf(await world.payment(id))).toEqual(before);
      await world.reconcile();
      expect(openOperationOf(await world.payment(id))).toMatchObject({ attempts: before!.attempts + 1 });
    },
  );

  test.each(failures)(
    "a question about a customer that cannot be written down because %s",
    async (_, failure, errors) => {
      const { payment } = await world.begin({
        paymentMethod: "tok_requires_action",
        returnUrl: "https://shop.example/back",
      });
      const { id } = payment.facts;
      world.clock.advance(MINUTE);
      const restore = answerSaves(() => Promise.reject(failure(id)));
      await world.reconcile();
      expect(world.errors).toHaveLength(errors);
      restore();
      expect(openOperationOf(await world.payment(id))).toMatchObject({ attempts: 0 });
      await world.reconcile();
      expect(openOperationOf(await world.payment(id))).toMatchObject({ attempts: 1 });
    },
  );
});

test("what does not fit is told a person once, whatever they have said of it since", async () => {
  const id = await captureInReview();
  const { id: operation } = openOperationOf(await world.payment(id))!;
  world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another amount" });
  const told = async () =>
    (await world.eventTypes(id)).filter((type) => type === "operation.needs_review").length;
  world.clock.advance(HOUR);
  await world.reconcile();
  expect(await told()).toBe(1);
  await world.review(operation, { outcome: "pending" });
  world.clock.advance(48 * HOUR);
  await world.reconcile();
  expect(await told()).toBe(1);
  world.gateway.answersQuestions({ outcome: "mismatch", evidence: "another currency" });
  world.clock.advance(48 * HOUR);
  await world.reconcile();
  expect(await told()).toBe(2);
  expect(await lastEvent(id, "operation.needs_review")).toMatchObject({
    reason: "another currency",
    again: true,
    by: { reconciler: true },
    gateway: { asked: "find", answer: "mismatch" },
  });
});

test("what the gateway has decided later is told with who asked, under which key, and what it answered", async () => {
  const id = await world.authorize();
  world.gateway.next("capture", async () => ({ outcome: "pending", reference: "cap_1" }));
  await world.capture(id, "k");
  const { id: operation } = openOperationOf(await world.payment(id))!;
  world.gateway.next("find", async () => ({ outcome: "succeeded", reference: "cap_1" }));
  world.clock.advance(10 * MINUTE);
  await world.reconcile();
  expect(await lastEvent(id, "capture.succeeded")).toMatchObject({
    by: { reconciler: true },
    gateway: { asked: "find", key: `${operation}.1`, answer: "succeeded", reference: "cap_1" },
    lock: { fencingToken: expect.any(String) as string, waitedMs: 0 },
  });
});

describe("a lock that is lost before the send", () => {
  /** Holds until it was asked so often. */
  class LosingLocks implements LockProvider {
    left = Infinity;
    private readonly inner = new NoOpLockProvider();

    withLock: LockProvider["withLock"] = (id, section, options) =>
      this.inner.withLock(
        id,
        (hold) => {
          const losing = Object.create(hold) as typeof hold;
          losing.assertHeld = () => {
            if ((this.left -= 1) < 0) throw new LockLostError(id, "its lease ended");
          };
          return section(losing);
        },
        options,
      );
  }

  test("a lock that is lost before the send is told, and its key may be used again", async () => {
    const locks = new LosingLocks();
    world = new PaymentsWorld({ locks });
    const id = await world.authorize();
    locks.left = 1;
    await expect(world.capture(id, "k")).rejects.toBeInstanceOf(LockLostError);
    expect((await world.eventTypes(id)).slice(-2)).toEqual(["capture.started", "capture.not_sent"]);
    locks.left = Infinity;
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
  });

  test("whoever lost the lock before the send gets the answer of the process that has sent it meanwhile", async () => {
    const locks = new LosingLocks();
    world = new PaymentsWorld({ locks });
    const id = await world.authorize();
    locks.left = 1;
    let saves = 0;
    const restore = answerSaves(async (real) => {
      saves += 1;
      if (saves !== 2) return real();
      // Before this process can say that it has not sent the intent, another one has.
      restore();
      locks.left = Infinity;
      world.clock.advance(10_000);
      await detached(() => world.reconcile());
      return real();
    });
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
    expect(await world.timesCaptured(id)).toBe(1);
  });
});

describe("what a picture shows", () => {
  test("what a picture shows is told with the gateway's side in short, and no more than ten refunds of it", async () => {
    const id = await world.captured();
    const refunds = Array.from({ length: 12 }, (_, n) => ({
      reference: `re_${n}`,
      amount: 10n,
      operationId: null,
      state: "succeeded" as const,
      reason: null,
    }));
    world.gateway.shows({ refunds });
    await world.observe(id);
    const told = await lastEvent(id, "refund.succeeded");
    expect(told).toMatchObject({
      by: { key: "operator" },
      gateway: { asked: "picture", answer: "captured", captured: { amount: 1_000 } },
    });
    const { gateway } = told as { gateway: { refunds: readonly unknown[] } };
    expect(gateway.refunds).toHaveLength(10);
    expect(gateway.refunds[9]).toMatchObject({ reference: "re_9", amount: 10 });

    const other = await world.authorize();
    world.gateway.shows({ authorization: "cancelled", captured: null, refunds: [] });
    await world.observe(other);
    expect((await lastEvent(other, "void.succeeded"))?.["gateway"]).toEqual({
      asked: "picture",
      answer: "cancelled",
    });
  });

  test("a gateway that draws no pictures is not asked for one, and its answers are all that there is", async () => {
    world = new PaymentsWorld({ withoutPictures: true });
    const id = await world.captured();
    expect(await world.observe(id)).toMatchObject({ isPictured: true, picture: null });
    expect(world.gateway.calls).not.toContain("picture");
  });

  test("where no picture is drawn, what became of a void takes one hold, and no second one to look at it", async () => {
    const purposes: (string | undefined)[] = [];
    const inner = new NoOpLockProvider();
    const locks: LockProvider = {
      withLock: (resourceId, section, options) => {
        purposes.push(options?.purpose);
        return inner.withLock(resourceId, section, options);
      },
    };
    for (const [withoutPictures, looks] of [
      [true, ["reconcile"]],
      [false, ["reconcile", "observe"]],
    ] as const) {
      world = new PaymentsWorld({ locks, withoutPictures });
      const id = await world.authorize();
      world.gateway.next("void", async () => unknown);
      await world.void(id, "v");
      world.gateway.answersQuestions(unknown);
      world.gateway.next("void", async () => unknown);
      world.clock.advance(10_000);
      purposes.length = 0;
      await world.reconcile();
      expect(purposes).toEqual(looks);
    }
  });
});
