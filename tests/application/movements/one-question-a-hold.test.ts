import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const silence = { outcome: "unknown", reason: "timeout" } as const;

it("asks the gateway once about what is in the way, also where another process puts something new into it", async () => {
  const payments = new InMemoryPaymentRepository();
  const world = new PaymentsWorld({ payments });
  const unlocked = new PaymentsWorld({ payments });
  const id = await world.authorize();
  world.gateway.next("capture", async () => silence);
  await world.capture(id, "first");
  world.clock.advance(10_000);

  const save = payments.save.bind(payments);
  let settled = 0;
  payments.save = async (payment, version) => {
    const stored = await save(payment, version);
    if (stored.payment.facts.operations.at(-1)?.status === "failed" && (settled += 1) === 1) {
      unlocked.gateway.next("capture", async () => silence);
      await unlocked.capture(id, "unlocked");
    }
    return stored;
  };
  world.gateway.answersQuestions({ outcome: "declined", reason: "no" });

  expect(await codeOf(world.capture(id, "second"))).toBe("capture_in_progress");
  expect(settled).toBe(1);
  expect(world.gateway.calls.filter((call) => call === "find")).toHaveLength(1);
});
