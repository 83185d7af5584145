import { amountRefunded, amountCaptured } from "../../../src/domain/payment/payment";
import { settleOperation } from "../../../src/application/operations/settle-operation";
import type { GatewayAnswer } from "../../../src/application/ports/payment-gateway";
import { parseIdempotencyKey } from "../../../src/domain/identifiers";
import { InMemoryGatewayLedger } from "../../../src/infrastructure/gateways/simulated/ledgers/in-memory-gateway-ledger";
import { PaymentsWorld } from "../../support/worlds/payments-world";
import { SeededRandom } from "../lease/seeded-random";
import { GatewayDealings } from "./judges/gateway-dealings";
import type { Told } from "./life-commands";
import { disagreements } from "./judges/life-judges";

const refusal = { outcome: "declined", reason: "card_declined" } as const;
const doesNotFit = { outcome: "mismatch", evidence: "found under another customer" } as const;

/** A refused capture whose caller was told of a success, until the refusal was heard of and a person set it right. */
async function toldASuccess(first: GatewayAnswer) {
  const world = new PaymentsWorld();
  const paymentId = await world.authorize("tok_capture_decline");
  world.gateway.next("capture", async (real) => {
    await real();
    return first;
  });
  await world.capture(paymentId, "k");
  const stored = await world.context.payments.find(paymentId);
  const { id } = stored!.payment.facts.operations.at(-1)!;
  if (first.outcome === "mismatch") {
    world.gateway.next("find", async () => doesNotFit);
    await world.review(id, { outcome: "moved" });
  }
  const { operation, payment } = await world.capture(paymentId, "k");
  expect(operation.status).toBe("succeeded");
  await settleOperation(world.context, stored!, { operationId: id, verdict: refusal, trace: {} });
  await world.review(id, { outcome: "not_moved" });
  const told: Told = {
    kind: "capture",
    paymentId,
    key: parseIdempotencyKey("k"),
    content: "all",
    answer: "succeeded",
    shown: {
      operationId: id,
      amount: operation.amount,
      captured: amountCaptured(payment),
      refunded: amountRefunded(payment),
    },
  };
  const gateway = new GatewayDealings({
    gateway: world.simulated,
    ledger: new InMemoryGatewayLedger(),
    now: () => world.clock.now(),
    random: new SeededRandom(1),
    moodiness: () => 0,
    forgetsKeysAfterMs: Infinity,
  });
  const found = await disagreements([await world.payment(paymentId)], {
    payments: world.context.payments,
    gateway,
    told: [told],
    asked: new Map(),
    insisted: new Set(),
  });
  return { found, paymentId };
}

describe("a caller who was told a success that was set right since", () => {
  test("was told so by a person, who was wrong while nobody could know: that is no mistake of the service", async () => {
    expect((await toldASuccess(doesNotFit)).found).toEqual([]);
  });

  test("was told so by the service: that is one, whoever set it right", async () => {
    const { found, paymentId } = await toldASuccess({ outcome: "succeeded", reference: "taken" });
    expect(found).toEqual([`payment ${paymentId}: capture k was told as succeeded, and is failed`]);
  });
});
