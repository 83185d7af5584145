import { amountCaptured, amountRefunded } from "../../../src/domain/payment/payment";
import { openOperationOf } from "../../../src/domain/payment/payment";
import type { PaymentId } from "../../../src/domain/identifiers";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const unreachable = async () => ({ outcome: "not_sent", reason: "connection refused" }) as const;

async function gatewayTotals(world: PaymentsWorld, id: PaymentId) {
  const { facts } = await world.payment(id);
  const seen = await world.simulated.authorization(id, facts.authorizationReference ?? "");
  return { captured: seen?.captured, refunded: seen?.refunded };
}

async function ownTotals(world: PaymentsWorld, id: PaymentId) {
  const payment = await world.payment(id);
  return { captured: amountCaptured(payment), refunded: amountRefunded(payment) };
}

describeOnEveryStore("a request repeated after it was not sent", (open) => {
  test("a request repeated after it was not sent refunds the amount that its key is bound to, or is told how much is left", async () => {
    const world = await open();
    const id = await world.captured();
    world.gateway.next("refund", unreachable);
    expect(await codeOf(world.refund(id, "all"))).toBe("gateway_unavailable");
    expect((await world.refund(id, "part", { amount: 300n })).operation.status).toBe("succeeded");

    await expect(world.refund(id, "all")).rejects.toMatchObject({
      code: "amount_exceeds_captured",
      facts: { maxAmount: 700n },
    });
    expect(openOperationOf(await world.payment(id))).toBeUndefined();

    expect((await world.refund(id, "rest")).operation.amount).toBe(700n);
    expect(await ownTotals(world, id)).toEqual({ captured: 1_000n, refunded: 1_000n });
    expect(await gatewayTotals(world, id)).toEqual(await ownTotals(world, id));
  });

  test("a request repeated after it was not sent refunds all that was left then, when nothing has happened since", async () => {
    const world = await open();
    const id = await world.captured();
    await world.refund(id, "part", { amount: 300n });
    world.gateway.next("refund", unreachable);
    expect(await codeOf(world.refund(id, "all"))).toBe("gateway_unavailable");
    expect((await world.refund(id, "all")).operation).toMatchObject({ amount: 700n, status: "succeeded" });
    expect(await gatewayTotals(world, id)).toEqual({ captured: 1_000n, refunded: 1_000n });
  });

  test.each(["capture", "void", "refund"] as const)(
    "a request repeated after it was not sent has the row that it had, whatever the %s asks for by default",
    async (kind) => {
      const world = await open();
      const id = kind === "refund" ? await world.captured() : await world.authorize();
      world.gateway.next(kind, unreachable);
      await codeOf(world[kind](id, "again"));
      const row = (await world.payment(id)).facts.operations.at(-1);
      expect(await codeOf(world[kind](id, "again"))).toBe("succeeded");
      const { id: operationId, paymentId, idempotencyKey, fingerprint, amount, createdAt } = row!;
      expect((await world.payment(id)).facts.operations.at(-1)).toMatchObject({
        ...{ id: operationId, paymentId, idempotencyKey, fingerprint, amount, createdAt },
        status: "succeeded",
      });
    },
  );
});
