import { figuresOf } from "../../support/worlds/payments";
import { amountRefunded, openOperationOf } from "../../../src/domain/payment/payment";
import * as schedules from "../../../src/application/operations/reconcile-schedule";
import type { PaymentId } from "../../../src/domain/identifiers";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A capture whose outcome nobody knows, of an instance whose clock was ahead by that much. */
async function capturedAhead(world: PaymentsWorld, aheadMs: number, token: string): Promise<PaymentId> {
  const id = await world.authorize(token, 1_000n, 90 * DAY);
  world.clock.advance(aheadMs);
  expect(await codeOf(world.capture(id, "k"))).toBe("unknown");
  world.clock.advance(-aheadMs);
  return id;
}

function calls(world: PaymentsWorld, name: string): number {
  return world.gateway.calls.filter((call) => call === name).length;
}

describeOnEveryStore("a clock that was ahead, or was set back since,", (open) => {
  test.each([62 * SECOND, DAY, 20 * DAY])(
    "a clock that was ahead, or was set back since, by %i ms keeps no operation from being asked about",
    async (ms) => {
      const world = await open();
      const id = await capturedAhead(world, ms, "tok_timeout_captured");
      expect(await world.reconcile()).toEqual({ done: 1, skipped: 0, failed: 0 });
      expect((await world.payment(id)).facts.status).toBe("captured");
      expect(await world.timesCaptured(id)).toBe(1);
    },
  );

  test("a clock that was ahead, or was set back since, keeps no caller's repetition from asking", async () => {
    const world = await open();
    const id = await capturedAhead(world, 20 * DAY, "tok_timeout_captured");
    expect(await codeOf(world.capture(id, "k"))).toBe("succeeded");
  });

  test("a clock that was ahead, or was set back since, has nobody asked more often than the schedule says, once the times are right again", async () => {
    const world = await open();
    const id = await capturedAhead(world, 20 * DAY, "tok_error_500_stored");
    for (let pass = 0; pass < 20; pass += 1) {
      await world.reconcile();
      world.clock.advance(3 * SECOND);
    }
    // At once, then after 30 s: a first look was used up when it was sent.
    expect(calls(world, "find")).toBe(2);
    const ahead = openOperationOf(await world.payment(id));
    expect(ahead?.dueAt?.getTime()).toBeLessThan(world.clock.now().getTime() + HOUR);
  });

  test("a clock that was ahead, or was set back since, by days has nothing sent again whose age nobody knows: a person has to look", async () => {
    const world = await open({ remembersKeysForMs: DAY });
    const id = await capturedAhead(world, 20 * DAY, "tok_timeout_not_captured");
    for (let pass = 0; pass < 10; pass += 1) {
      await world.reconcile();
      world.clock.advance(6 * HOUR);
    }
    expect(calls(world, "capture")).toBe(1);
    expect(openOperationOf(await world.payment(id))?.status).toBe("needs_review");
  });

  test("a clock that was ahead, or was set back since, by less than the margin keeps nothing from being sent again", async () => {
    const world = await open({ remembersKeysForMs: DAY });
    const id = await capturedAhead(world, 30 * MINUTE, "tok_timeout_not_captured");
    await world.reconcile();
    expect((await world.payment(id)).facts.status).toBe("captured");
    expect(await world.timesCaptured(id)).toBe(1);
  });
});

test("no schedule has a step that reaches farther than what is due at all", () => {
  const steps = Object.entries(schedules)
    .filter(([name]) => name.endsWith("ScheduleMs"))
    .flatMap(([, ms]) => ms as readonly number[]);
  expect(steps.length).toBeGreaterThan(0);
  for (const ms of steps) expect(ms * 1.1).toBeLessThan(schedules.FARTHEST_DUE_MS);
});

describeOnEveryStore("totals in an answer", (open) => {
  test("totals in an answer of a refund by a clock that is behind the capture's are those after the refund", async () => {
    const world = await open();
    const id = await world.captured();
    world.clock.advance(-50);
    const answers = [
      await world.refund(id, "r", { amount: 300n }),
      await world.refund(id, "r", { amount: 300n }),
    ];
    for (const { payment } of answers) {
      expect(figuresOf(payment)).toMatchObject({ amountCaptured: 1_000n, amountRefunded: 300n });
    }
  });

  test("totals in an answer of a refund that was tried again after another one are those that the payment has", async () => {
    const world = await open();
    const id = await world.captured();
    world.gateway.next("refund", async () => ({ outcome: "not_sent", reason: "refused" }));
    expect(await codeOf(world.refund(id, "first", { amount: 200n }))).toBe("gateway_unavailable");
    await world.refund(id, "second", { amount: 300n });
    const { payment } = await world.refund(id, "first", { amount: 200n });
    expect(amountRefunded(payment)).toBe(500n);
    expect(amountRefunded(payment)).toBe(amountRefunded(await world.payment(id)));
    const replayed = await world.refund(id, "second", { amount: 300n });
    expect(amountRefunded(replayed.payment)).toBe(300n);
  });
});
