import { settleOperation } from "../../../src/application/operations/settle-operation";
import type { PaymentId } from "../../../src/domain/identifiers";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;

/** An expired payment whose release has not been sent yet. */
async function expired(world: PaymentsWorld, token = "tok_ok"): Promise<PaymentId> {
  const id = await world.authorize(token, 1_000n, 60);
  world.clock.advance(60_000);
  await codeOf(world.capture(id, "late"));
  return id;
}

async function releaseOf(world: PaymentsWorld, id: PaymentId) {
  const release = (await world.payment(id)).facts.operations.at(-1);
  if (release?.kind !== "void" || release.idempotencyKey !== null) throw new Error("that is no release");
  return release;
}

describe("the release of reserved money", () => {
  test("the release of reserved money that was refused goes on under its next key, until the money is let go", async () => {
    const world = new PaymentsWorld();
    const id = await expired(world, "tok_void_decline");
    await world.reconcile();
    expect(await releaseOf(world, id)).toMatchObject({ status: "unknown", n: 2 });
    world.clock.advance(HOUR);
    await world.reconcile();
    expect(await releaseOf(world, id)).toMatchObject({ status: "succeeded", n: 2 });
    expect(await world.timesMoved(id, "void")).toBe(1);
  });

  test("the release of reserved money hears of the refusal of a former key without going on to another", async () => {
    const world = new PaymentsWorld();
    const id = await expired(world, "tok_void_decline");
    const before = await world.context.payments.find(id);
    const { id: releaseId } = await releaseOf(world, id);
    await world.reconcile();
    const refused = { outcome: "declined", reason: "no" } as const;
    await settleOperation(world.context, before!, { operationId: releaseId, verdict: refused, trace: {} });
    expect((await releaseOf(world, id)).n).toBe(2);
  });

  test("the release of reserved money is sent again even when the gateway may have forgotten its key: what is let go is gone", async () => {
    const world = new PaymentsWorld({ remembersKeysForMs: 24 * HOUR });
    const id = await expired(world, "tok_void_timeout_not_captured");
    await world.reconcile();
    for (let pass = 0; pass < 2; pass += 1) {
      world.clock.advance(48 * HOUR);
      await world.reconcile();
    }
    expect(await releaseOf(world, id)).toMatchObject({ status: "succeeded", n: 1 });
  });

  test("the release of reserved money keeps nobody out, and a day without an answer brings it before no person", async () => {
    const world = new PaymentsWorld();
    const id = await expired(world, "tok_void_error_500_stored");
    for (let hour = 0; hour < 24; hour += 1) {
      await world.reconcile();
      world.clock.advance(HOUR);
    }
    expect(await releaseOf(world, id)).toMatchObject({ status: "unknown" });
    expect(await codeOf(world.capture(id, "again"))).toBe("payment_expired");
    expect(await codeOf(world.void(id, "v"))).toBe("payment_not_voidable");
  });
});
