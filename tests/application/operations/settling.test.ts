import { settleOperation, type Finding } from "../../../src/application/operations/settle-operation";
import {
  DuplicateAuthorizationError,
  StoreUnavailableError,
  VersionConflictError,
  type PaymentRepository,
  type StoredPayment,
} from "../../../src/application/ports/payment-repository";
import { budgets } from "../../../src/application/time-budgets";
import type { GatewayVerdict } from "../../../src/domain/payment/facts";
import { openOperationOf, visibleStatus } from "../../../src/domain/payment/payment";
import { PaymentsWorld } from "../../support/worlds/payments-world";

/** A capture that is open, a store whose saves a test answers, and what is done with both. */
async function open() {
  const world = new PaymentsWorld();
  const id = await world.authorize();
  world.gateway.next("capture", async () => ({ outcome: "unknown", reason: "lost" }));
  await world.capture(id, "k");
  const read = (await world.context.payments.find(id))!;
  const slept: number[] = [];
  const saves: StoredPayment["payment"][] = [];
  const { payments } = world.context;
  let onSave = (real: () => Promise<StoredPayment>): Promise<StoredPayment> => real();
  const find: PaymentRepository["find"] = (wanted) => payments.find(wanted);
  const watched = {
    find: (wanted: typeof id) => finding(() => find(wanted)),
    save: (next: StoredPayment["payment"], version: number) => {
      saves.push(next);
      return onSave(() => payments.save(next, version));
    },
  };
  let finding = (real: () => Promise<StoredPayment | null>): Promise<StoredPayment | null> => real();
  const context = {
    ...world.context,
    payments: watched as unknown as PaymentRepository,
    sleep: async (ms: number) => {
      slept.push(ms);
    },
  };
  const operationId = openOperationOf(read.payment)!.id;
  return {
    world,
    id,
    read,
    slept,
    saves,
    settle: (verdict: GatewayVerdict) => {
      const found: Finding = { operationId, verdict, trace: { seen: "there" } };
      return settleOperation(context, read, found);
    },
    onSave: (answer: typeof onSave) => {
      onSave = answer;
    },
    onFind: (answer: typeof finding) => {
      finding = answer;
    },
  };
}

const success: GatewayVerdict = { outcome: "succeeded", reference: "cap_1" };
const fails = () => Promise.reject(new StoreUnavailableError("down"));

describe("what became of an operation is written down", () => {
  test("what became of an operation is written down at once, with what was asked", async () => {
    const { settle, saves, slept, read } = await open();
    const stored = await settle(success);
    expect(visibleStatus(stored!.payment)).toBe("captured");
    expect(stored!.version).toBe(read.version + 1);
    expect(saves[0]!.newEvents[0]!.data).toMatchObject({ seen: "there" });
    expect([saves.length, slept]).toEqual([1, []]);
  });

  test("what became of an operation is tried five times on a store that fails, with longer and longer waits", async () => {
    const { settle, saves, slept, onSave } = await open();
    onSave(fails);
    expect(await settle(success)).toBeNull();
    expect(slept).toEqual([50, 100, 200, 400]);
    expect(saves).toHaveLength(5);
  });

  test("what became of an operation is written down by the last try, too", async () => {
    const { settle, saves, onSave } = await open();
    onSave((real) => (saves.length < 5 ? fails() : real()));
    expect(visibleStatus((await settle(success))!.payment)).toBe("captured");
  });

  test("what became of an operation is read anew after each failure: it may have been written", async () => {
    const { settle, saves, onSave } = await open();
    onSave(async (real) => {
      await real();
      throw new StoreUnavailableError("the answer was lost");
    });
    expect(visibleStatus((await settle(success))!.payment)).toBe("captured");
    expect(saves).toHaveLength(1);
  });

  test("what became of an operation is given up after twenty rounds with others who write all the time", async () => {
    const { settle, saves, slept, onSave, onFind, read } = await open();
    let version = read.version;
    onFind(async (real) => ({ ...(await real())!, version: (version += 1) }));
    onSave(() => Promise.reject(new VersionConflictError(read.payment.facts.id)));
    expect(await settle(success)).toBeNull();
    expect([saves.length, slept]).toEqual([20, []]);
  });

  test("what became of an operation goes before a person if the store refuses it twice at one version", async () => {
    const { settle, saves, onSave, read } = await open();
    onSave((real) =>
      saves.length <= 2 ? Promise.reject(new VersionConflictError(read.payment.facts.id)) : real(),
    );
    const { payment } = (await settle(success))!;
    expect(openOperationOf(payment)).toMatchObject({ status: "needs_review", conflicted: true });
    expect(saves[2]!.newEvents.at(-1)!.data).toMatchObject({
      reason:
        "the gateway answered succeeded, which cannot be recorded: with it, the payment's totals could not be true",
      gatewayReference: "cap_1",
    });
  });

  test("what became of an operation goes before a person if the store takes it for another payment's authorization", async () => {
    const { settle, saves, onSave, read } = await open();
    const taken = new DuplicateAuthorizationError("auth_1");
    onSave((real) => (saves.length === 1 ? Promise.reject(taken) : real()));
    const { payment } = (await settle(success))!;
    expect(openOperationOf(payment)).toMatchObject({ status: "needs_review", conflicted: false });
    expect(saves[1]!.newEvents.at(-1)!.data).toMatchObject({ reason: taken.message });
    expect(read.payment).not.toBe(payment);
  });

  test("what became of an operation goes before a person if it cannot be, in the words of what stands against it", async () => {
    const { settle, saves, onSave } = await open();
    onSave((real) => (saves.length === 1 ? Promise.reject(new Error("a check failed")) : real()));
    await settle(success);
    expect(saves[1]!.newEvents.at(-1)!.data).toMatchObject({
      reason: "the gateway answered succeeded, which cannot be recorded: a check failed",
    });
  });

  test("what is no answer, or cannot even go before a person, is an error that nobody hides", async () => {
    const { settle, saves, onSave } = await open();
    onSave(() => Promise.reject(new Error("a check failed")));
    await expect(settle({ outcome: "unknown", reason: "?" })).rejects.toThrow("a check failed");
    expect(saves).toHaveLength(1);
    await expect(settle(success)).rejects.toThrow("a check failed");
    expect(saves).toHaveLength(3);
  });

  test("what became of an operation is not waited for longer than its time, and not tried again after it", async () => {
    const { settle, saves, onSave, slept } = await open();
    jest.useFakeTimers();
    let fail = (): void => {};
    onSave(() => new Promise((_, reject) => (fail = () => reject(new StoreUnavailableError("down")))));
    const settled = settle(success);
    await jest.advanceTimersByTimeAsync(budgets.savesMs - 1);
    expect(await Promise.race([settled, Promise.resolve("waiting")])).toBe("waiting");
    await jest.advanceTimersByTimeAsync(1);
    expect(await settled).toBeNull();
    fail();
    await jest.advanceTimersByTimeAsync(10_000);
    expect([saves.length, slept, jest.getTimerCount()]).toEqual([1, [50], 0]);
    jest.useRealTimers();
  });

  test("a payment that is gone from the store is an error", async () => {
    const { settle, onSave, onFind, id } = await open();
    onSave(fails);
    onFind(async () => null);
    await expect(settle(success)).rejects.toThrow(`payment ${id} is gone from the store`);
  });

  test("what changes nothing is not written, and what is stored is the answer", async () => {
    const { settle, saves, read } = await open();
    expect(await settle({ outcome: "absent" })).toBe(read);
    expect(saves).toEqual([]);
  });
});
