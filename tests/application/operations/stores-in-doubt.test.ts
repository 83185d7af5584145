import {
  StoreUnavailableError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { openOperationOf } from "../../../src/domain/payment/payment";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

/** The store's saves from now on are answered by `save`, which may ask the real one. */
function answerSaves(world: PaymentsWorld, save: (real: () => Promise<unknown>) => Promise<unknown>): void {
  const { payments } = world.context;
  const answered = Object.create(payments) as PaymentRepository;
  answered.save = ((...parts: Parameters<PaymentRepository["save"]>) =>
    save(() => payments.save(...parts))) as PaymentRepository["save"];
  Object.assign(world.context, { payments: answered });
}

const inDoubt = () => new StoreUnavailableError("the answer was lost", { outcome: "unknown" });

test("an intent whose answer is lost twice is looked for once, and then nobody knows", async () => {
  const world = new PaymentsWorld();
  const id = await world.authorize();
  let saves = 0;
  answerSaves(world, () => {
    saves += 1;
    return Promise.reject(inDoubt());
  });
  await expect(world.capture(id, "k")).rejects.toMatchObject({
    code: "service_unavailable",
    outcome: "unknown",
  });
  expect(saves).toBe(2);
  expect(world.gateway.calls).not.toContain("capture");
});

test("an intent whose answer is lost and that is stored is found by its key, and sent", async () => {
  const world = new PaymentsWorld();
  const id = await world.authorize();
  let isFirst = true;
  answerSaves(world, async (real) => {
    const saved = await real();
    if (!isFirst) return saved;
    isFirst = false;
    throw inDoubt();
  });
  expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
  expect(await world.timesCaptured(id)).toBe(1);
});

test("a refused access to the gateway's account is told to the caller, and the operation is closed", async () => {
  const world = new PaymentsWorld();
  const id = await world.authorize();
  const refusal = { outcome: "not_sent", reason: "key revoked", refused: true } as const;
  world.gateway.next("capture", async () => refusal);
  await expect(world.capture(id, "k")).rejects.toMatchObject({
    code: "gateway_access_refused",
    facts: { paymentId: id, reason: "key revoked" },
  });
  expect(openOperationOf(await world.payment(id))).toBeUndefined();
});

test("a refused access that cannot be written down leaves the operation open, and the caller hears so", async () => {
  const world = new PaymentsWorld();
  const id = await world.authorize();
  world.gateway.next("capture", async () => {
    answerSaves(world, () => Promise.reject(new StoreUnavailableError("down")));
    return { outcome: "not_sent", reason: "key revoked", refused: true };
  });
  expect(await codeOf(world.capture(id, "k"))).toBe("started");
  expect(openOperationOf(await world.payment(id))).toMatchObject({ status: "started" });
});
