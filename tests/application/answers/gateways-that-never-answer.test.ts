import { budgets } from "../../../src/application/time-budgets";
import { paymentResourceId, type PaymentId } from "../../../src/domain/identifiers";
import { visibleStatus } from "../../../src/domain/payment/payment";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const never = () => new Promise<never>(() => {});

describe("a gateway that never answers", () => {
  let locks: MemoryLockProvider;
  let world: PaymentsWorld;
  beforeEach(() => {
    jest.useFakeTimers();
    locks = new MemoryLockProvider();
    world = new PaymentsWorld({ locks });
  });
  afterEach(() => {
    expect(jest.getTimerCount()).toBe(0);
    jest.useRealTimers();
  });

  /** What a promise comes to, and how long that takes at most. */
  async function within<T>(limitMs: number, work: Promise<T>): Promise<T | "still waiting"> {
    const result = Promise.race([
      work,
      new Promise<"still waiting">((resolve) => setTimeout(() => resolve("still waiting"), limitMs + 1)),
    ]);
    await jest.advanceTimersByTimeAsync(limitMs + 1);
    jest.clearAllTimers();
    return result;
  }

  async function lastUnknown(id: PaymentId) {
    return ((await world.context.payments.events(id)) ?? []).findLast(({ type }) => type.endsWith(".unknown"))
      ?.data;
  }

  test("a gateway that never answers a capture keeps neither the caller nor the lock longer than a send may take", async () => {
    const id = await world.authorize();
    world.gateway.next("capture", never);
    expect(await within(budgets.sendMs, codeOf(world.capture(id, "k")))).toBe("unknown");
    expect(await lastUnknown(id)).toMatchObject({
      reason: `no answer within ${budgets.sendMs} ms`,
      gateway: { asked: "capture", answer: "unknown", reason: `no answer within ${budgets.sendMs} ms` },
    });
    const others = locks.withLock(paymentResourceId(id), async () => "inside");
    expect(await within(0, others)).toBe("inside");
  });

  test("a gateway that never answers a question keeps the reconciler no longer than a question may take", async () => {
    const id = await world.authorize("tok_timeout_captured");
    expect(await codeOf(world.capture(id, "k"))).toBe("unknown");
    world.clock.advance(5_000);
    world.gateway.next("find", never);
    expect(await within(budgets.findMs, world.reconcile())).toEqual({ done: 1, skipped: 0, failed: 0 });
    // It sends the same key again instead.
    expect(world.gateway.calls.slice(-2)).toEqual(["find", "capture"]);
    expect(visibleStatus(await world.payment(id))).toBe("captured");
    expect(await world.timesCaptured(id)).toBe(1);
  });

  test("a gateway that answers in the last moment of its time is heard", async () => {
    const id = await world.authorize();
    world.gateway.next("capture", async (real) => {
      await new Promise((resolve) => setTimeout(resolve, budgets.sendMs - 1));
      return real();
    });
    expect(await within(budgets.sendMs - 1, codeOf(world.capture(id, "k")))).toBe("succeeded");
  });

  test("a gateway adapter that throws is told as one that gave no answer, in its own words", async () => {
    const id = await world.authorize();
    world.gateway.next("capture", async () => {
      throw new Error("socket closed");
    });
    expect(await codeOf(world.capture(id, "k"))).toBe("unknown");
    expect(await lastUnknown(id)).toMatchObject({
      reason: "the gateway adapter failed: Error: socket closed",
    });
  });
});
