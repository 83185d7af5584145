import { operationOf } from "../../../src/domain/payment/payment";
import type { GatewayAnswer } from "../../../src/application/ports/payment-gateway";
import type { PaymentId } from "../../../src/domain/identifiers";
import type { Operation } from "../../../src/domain/payment/operation";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { forged, forgedOperation } from "../../support/worlds/payments";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const DAY = 86_400_000;

/** Puts operations into a payment that no step of it has led to. */
async function forge(world: PaymentsWorld, id: PaymentId, changes: readonly Partial<Operation>[]) {
  const stored = await world.context.payments.find(id);
  const { payment, version } = stored!;
  const { operations } = payment.facts;
  const made = changes.map((change) => forgedOperation(payment, { createdAt: world.clock.now(), ...change }));
  await world.context.payments.save(forged(payment, { operations: [...operations, ...made] }), version);
  return made;
}

const open = (world: PaymentsWorld, amount: bigint): Partial<Operation> => ({
  kind: "refund",
  status: "unknown",
  amount,
  gatewayReference: null,
  dueAt: world.clock.now(),
  settledAt: null,
});

const succeeded: GatewayAnswer = { outcome: "succeeded", reference: "re_1" };

describeOnEveryStore("an answer that cannot be recorded", (openWorld) => {
  const situations = {
    "because the payment cannot have it": async (world: PaymentsWorld) => {
      const id = await world.authorize();
      const [refund] = await forge(world, id, [open(world, 700n)]);
      return { id, refund: refund! };
    },
    "because the store's totals refuse it": async (world: PaymentsWorld) => {
      const id = await world.captured();
      await world.refund(id, "earlier", { amount: 600n });
      const [refund] = await forge(world, id, [open(world, 700n)]);
      return { id, refund: refund! };
    },
  };

  test.each(Object.keys(situations) as (keyof typeof situations)[])(
    "%s: a person gets it, once, with what the gateway said",
    async (why) => {
      const world = await openWorld();
      const { id, refund } = await situations[why](world);
      const sends = () => world.gateway.calls.filter((call) => call === "refund").length;
      const before = sends();
      for (let day = 0; day < 60; day += 1) {
        world.gateway.next("find", async () => succeeded);
        await world.reconcile();
        world.clock.advance(DAY);
      }
      expect(world.errors).toEqual([]);
      const payment = await world.payment(id);
      expect(operationOf(payment, refund.id)).toMatchObject({ status: "needs_review", conflicted: true });
      expect(await world.context.payments.countInReview()).toBe(1);
      const told = ((await world.context.payments.events(id)) ?? []).filter(
        ({ type }) => type === "operation.needs_review",
      );
      expect(told).toHaveLength(1);
      expect(told[0]?.data).toMatchObject({
        operationId: refund.id,
        reason: expect.stringContaining("the gateway answered succeeded"),
        gatewayReference: "re_1",
        gateway: { answer: "succeeded", reference: "re_1" },
      });
      expect(sends()).toBe(before);
    },
  );

  test("an answer that cannot be recorded is no failure of the caller's request, which hears that nobody knows", async () => {
    const world = await openWorld();
    const id = await world.captured();
    world.gateway.next("refund", async () => {
      await forge(world, id, [{ kind: "refund", amount: 600n }]);
      return succeeded;
    });
    expect(await codeOf(world.refund(id, "k", { amount: 700n }))).toBe("needs_review");
    expect(await codeOf(world.refund(id, "k", { amount: 700n }))).toBe("needs_review");
  });
});
