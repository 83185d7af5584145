import { openOperationOf } from "../../../src/domain/payment/payment";
import type { FindAnswer } from "../../../src/application/ports/payment-gateway";
import type { PaymentId } from "../../../src/domain/identifiers";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { SqlitePaymentRepository } from "../../../src/infrastructure/persistence/sqlite/sqlite-payment-repository";
import { Gate } from "../../support/fakes/gate";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";
import { temporarySqlite } from "../../support/worlds/temporary-sqlite";

const refused: FindAnswer = { outcome: "declined", reason: "the gateway says no" };
const done: FindAnswer = { outcome: "succeeded", reference: "capture_elsewhere" };

const stores = {
  memory: async () => ({ payments: new InMemoryPaymentRepository(), close: async () => {} }),
  SQLite: async () => {
    const { sqlite, close } = await temporarySqlite();
    return { payments: new SqlitePaymentRepository(sqlite), close };
  },
};

describe.each(Object.keys(stores) as (keyof typeof stores)[])("two answers for one key, on %s", (store) => {
  let world: PaymentsWorld;
  let close: () => Promise<void>;
  beforeEach(async () => {
    const opened = await stores[store]();
    close = opened.close;
    world = new PaymentsWorld({ payments: opened.payments });
  });
  afterEach(() => close());

  /** The reconciler asks about the open capture; while its answer is under way, `meanwhile` happens. */
  async function late(answer: FindAnswer, meanwhile: () => Promise<unknown>): Promise<void> {
    const asked = new Gate();
    const answering = new Gate();
    world.gateway.next("find", async () => {
      asked.open();
      await answering.passed;
      return answer;
    });
    const pass = world.reconcile();
    await asked.passed;
    await meanwhile();
    answering.open();
    expect(await pass).toEqual({ done: 1, skipped: 0, failed: 0 });
  }

  async function openCapture(token: string): Promise<PaymentId> {
    const id = await world.authorize(token);
    await world.capture(id, "k");
    world.clock.advance(5_000);
    return id;
  }

  test("two answers for one key that agree change nothing the second time", async () => {
    const id = await openCapture("tok_timeout_captured");
    await late(done, () => world.capture(id, "k"));
    const { facts } = await world.payment(id);
    expect(facts.operations[1]).toMatchObject({ status: "succeeded", conflicted: false });
    expect((await world.eventTypes(id)).filter((type) => type === "capture.succeeded")).toHaveLength(1);
  });

  test("two answers for one key that contradict each other go to a person, with both in the history", async () => {
    const id = await openCapture("tok_timeout_captured");
    await late(refused, () => world.capture(id, "k"));
    const payment = await world.payment(id);
    expect(openOperationOf(payment)).toMatchObject({ kind: "capture", status: "needs_review", dueAt: null });
    const events = await world.context.payments.events(id);
    expect(events?.map(({ type }) => type).slice(-2)).toEqual([
      "operation.evidence_conflict",
      "operation.needs_review",
    ]);
    expect(events?.at(-2)?.data).toMatchObject({ recorded: "succeeded", answer: "declined" });
    expect(await codeOf(world.capture(id, "k"))).toBe("needs_review");
    expect(await codeOf(world.capture(id, "other"))).toBe("capture_in_progress");
    const calls = world.gateway.calls.length;
    world.clock.advance(24 * 3_600_000);
    await world.reconcile();
    expect(world.gateway.calls).toHaveLength(calls);
  });

  test("two answers for one key that contradict each other while another capture is open wait for the end of that one", async () => {
    const id = await openCapture("tok_error_500");
    await late(done, async () => {
      world.gateway.next("find", async () => refused);
      expect(await codeOf(world.capture(id, "k"))).toBe("capture_declined");
      world.gateway.next("capture", async (real) => {
        await real();
        return { outcome: "unknown", reason: "timeout" };
      });
      expect(await codeOf(world.capture(id, "other"))).toBe("unknown");
    });
    const between = await world.payment(id);
    expect(between.facts.operations.slice(1)).toMatchObject([
      { status: "failed", conflicted: true },
      { status: "unknown" },
    ]);
    world.clock.advance(5_000);
    await world.reconcile();
    const after = await world.payment(id);
    expect(after.facts.operations.slice(1)).toMatchObject([
      { status: "needs_review" },
      { status: "succeeded" },
    ]);
  });

  test("two answers for one key that contradict each other while another capture turns out not to be sent go to a person then", async () => {
    const id = await openCapture("tok_error_500");
    const sending = new Gate();
    const refusing = new Gate();
    let other: Promise<string> | undefined;
    await late(done, async () => {
      world.gateway.next("find", async () => refused);
      await codeOf(world.capture(id, "k"));
      world.gateway.next("capture", async () => {
        sending.open();
        await refusing.passed;
        return { outcome: "not_sent", reason: "refused" };
      });
      other = codeOf(world.capture(id, "other"));
      await sending.passed;
    });
    expect((await world.payment(id)).facts.operations[1]).toMatchObject({
      status: "failed",
      conflicted: true,
    });
    refusing.open();
    await other;
    for (let pass = 0; pass < 3; pass += 1) {
      world.clock.advance(150_000);
      await world.reconcile();
    }
    expect((await world.payment(id)).facts.operations[1]).toMatchObject({ status: "needs_review" });
  });
});
