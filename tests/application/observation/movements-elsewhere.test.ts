import type { PictureAnswer } from "../../../src/application/ports/payment-gateway";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import type { PaymentId } from "../../../src/domain/identifiers";
import { openOperationOf, visibleStatus } from "../../../src/domain/payment/payment";
import { isInReview, isRelease } from "../../../src/domain/payment/operation";
import { detached } from "../../../src/infrastructure/locking/hold/reentrancy";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { publicPayment } from "../../../src/application/public-events/public-payment";
import { Gate } from "../../support/fakes/gate";
import { figuresOf } from "../../support/worlds/payments";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const kindsOf = async (world: PaymentsWorld, id: PaymentId) =>
  (await world.payment(id)).facts.operations.map(({ kind, origin, status }) => `${origin} ${kind} ${status}`);

/** Observes, and checks that the gateway was only asked, and that a second time changes nothing. */
async function observed(world: PaymentsWorld, id: PaymentId): Promise<void> {
  const moves = await world.simulated.moves(id);
  const calls = world.gateway.calls.length;
  await world.observe(id);
  const after = await world.context.payments.find(id);
  const events = await world.eventTypes(id);
  await world.observe(id);
  expect(await world.context.payments.find(id)).toEqual(after);
  expect(await world.eventTypes(id)).toEqual(events);
  expect(world.gateway.calls.slice(calls).filter((call) => call !== "find" && call !== "picture")).toEqual(
    [],
  );
  expect(await world.simulated.moves(id)).toEqual(moves);
}

describeOnEveryStore("what others do at the gateway", (open) => {
  test("when others act at the gateway, a capture makes the payment captured, and can be refunded through us", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_60000");
    await observed(world, id);
    expect(await kindsOf(world, id)).toEqual(["holdfast authorize succeeded"]);
    world.clock.advance(MINUTE);
    await observed(world, id);
    expect(await kindsOf(world, id)).toEqual(["holdfast authorize succeeded", "gateway capture succeeded"]);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
    });
    expect((await world.eventTypes(id)).slice(-2)).toEqual(["capture.succeeded", "payment.captured"]);
    expect(publicPayment(await world.payment(id)).captures).toMatchObject([
      { origin: "gateway", status: "succeeded", amount: 1_000 },
    ]);
    expect(await codeOf(world.capture(id, "c"))).toBe("payment_already_captured");
    expect(await codeOf(world.refund(id, "r", { amount: 300n }))).toBe("succeeded");
    await observed(world, id);
  });

  test("when others act at the gateway, a cancellation makes the payment voided", async () => {
    const world = await open();
    const id = await world.authorize("tok_voided_elsewhere_60000");
    world.clock.advance(MINUTE);
    await observed(world, id);
    expect(await kindsOf(world, id)).toEqual(["holdfast authorize succeeded", "gateway void succeeded"]);
    const payment = await world.payment(id);
    expect(visibleStatus(payment)).toBe("voided");
    // Not one of our own releases, which nobody is told of.
    expect(payment.facts.operations.map(isRelease)).toEqual([false, false]);
    expect((await world.eventTypes(id)).slice(-2)).toEqual(["void.succeeded", "payment.voided"]);
  });

  test("when others act at the gateway, an authorization that it let go by itself has expired, and there is nothing to release", async () => {
    const world = await open();
    const id = await world.authorize();
    world.gateway.shows({ authorization: "lapsed" });
    await observed(world, id);
    expect(visibleStatus(await world.payment(id))).toBe("expired");
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
  });

  test("when others act at the gateway, an earlier end of the authorization is taken over", async () => {
    const world = await open();
    const id = await world.authorize();
    const end = new Date(world.clock.now().getTime() + MINUTE);
    world.gateway.shows({ authorizedUntil: end });
    await observed(world, id);
    expect((await world.payment(id)).facts.expiresAt).toEqual(end);
    expect(await world.eventTypes(id)).toContain("payment.expiry_shortened");
  });

  test("when others act at the gateway, a refund counts, and leaves so much less to refund", async () => {
    const world = await open();
    const id = await world.authorize("tok_refunded_elsewhere_60000");
    await world.capture(id, "c");
    world.clock.advance(MINUTE);
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 500n });
    expect((await world.eventTypes(id)).at(-1)).toBe("refund.succeeded");
    await expect(world.refund(id, "r", { amount: 600n })).rejects.toMatchObject({
      code: "amount_exceeds_captured",
      facts: { maxAmount: 500n },
    });
  });

  test("when others act at the gateway, a refund of ours that comes after theirs is declined if less is left, and nothing goes to review", async () => {
    const world = await open();
    const id = await world.authorize("tok_refunded_elsewhere_50");
    await world.capture(id, "c");
    world.clock.advance(50);
    expect(await codeOf(world.refund(id, "r", { amount: 800n }))).toBe("refund_declined");
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountRefunded: 500n,
    });
    expect(await world.context.payments.countInReview()).toBe(0);
    expect(await codeOf(world.refund(id, "r2", { amount: 500n }))).toBe("succeeded");
  });

  test("when others act at the gateway, a refund of theirs that fails later is taken back, as one of ours is", async () => {
    const world = await open();
    const id = await world.captured();
    const refund = { reference: "re_9", amount: 400n, operationId: null, reason: null } as const;
    world.gateway.shows({ refunds: [{ ...refund, state: "pending" }] });
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 0n });
    world.gateway.shows({ refunds: [{ ...refund, state: "succeeded" }] });
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 400n });
    world.gateway.shows({ refunds: [{ ...refund, state: "failed", reason: "account_closed" }] });
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 0n });
    expect((await world.payment(id)).facts.operations.at(-1)).toMatchObject({
      origin: "gateway",
      status: "failed",
      failureReason: "account_closed",
    });
    expect((await world.eventTypes(id)).at(-1)).toBe("refund.failed");
  });

  test("when others act at the gateway, a movement of theirs that is shown with another amount later is reported as in review at once", async () => {
    const world = await open();
    const id = await world.captured();
    const refund = { reference: "re_9", operationId: null, state: "succeeded", reason: null } as const;
    world.gateway.shows({ refunds: [{ ...refund, amount: 50n }] });
    await observed(world, id);
    world.gateway.shows({ refunds: [{ ...refund, amount: 60n }] });
    const { observations } = await world.observe(id);
    expect(observations.at(-1)).toMatchObject({
      operation: { kind: "refund", origin: "gateway", status: "succeeded" },
      seen: { outcome: "mismatch", evidence: expect.stringContaining("60") },
      result: "in_review",
    });
    expect((await world.observe(id)).observations.at(-1)).toMatchObject({ result: "in_review" });
  });

  test("when others act at the gateway, more refunded than was captured goes before a person, with both sides", async () => {
    const world = await open();
    const id = await world.captured();
    await world.refund(id, "r", { amount: 800n });
    const too = {
      reference: "re_9",
      amount: 300n,
      operationId: null,
      state: "succeeded",
      reason: null,
    } as const;
    world.gateway.shows({ refunds: [too] });
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 800n });
    expect(await world.context.payments.countInReview()).toBe(1);
    const told = ((await world.context.payments.events(id)) ?? []).find(
      ({ type }) => type === "operation.evidence_conflict",
    );
    expect(told?.data).toMatchObject({ recorded: "succeeded", evidence: expect.stringContaining("re_9") });
  });

  test("when others act at the gateway, another capture than the one that we recorded goes before a person, and is not counted beside it", async () => {
    const world = await open();
    const id = await world.captured();
    world.gateway.shows({ captured: { reference: "ch_9", amount: 900n, operationId: null } });
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ visibleStatus: "capturing" });
    expect(await kindsOf(world, id)).toEqual([
      "holdfast authorize succeeded",
      "holdfast capture needs_review",
    ]);
  });

  test("when others act at the gateway, a capture of what we have voided goes before a person", async () => {
    const world = await open();
    const id = await world.authorize();
    await world.void(id, "v");
    world.gateway.shows({
      authorization: "captured",
      captured: { reference: "ch_9", amount: 900n, operationId: null },
    });
    await observed(world, id);
    const operations = (await world.payment(id)).facts.operations;
    expect(operations.filter(isInReview).map(({ kind }) => kind)).toEqual(["void"]);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountCaptured: 0n });
  });

  test("when others act at the gateway, more captured than was authorized goes before a person", async () => {
    const world = await open();
    const id = await world.authorize();
    world.gateway.shows({
      authorization: "captured",
      captured: { reference: "ch_9", amount: 1_001n, operationId: null },
    });
    await observed(world, id);
    expect(await world.context.payments.countInReview()).toBe(1);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountCaptured: 0n });
  });

  test.each([
    ["does not answer", { outcome: "unknown", reason: "timeout" }],
    ["shows nothing new", null],
  ] as const)(
    "what others do at the gateway is not known when it %s, and nothing changes",
    async (_, answer) => {
      const world = await open();
      const id = await world.captured();
      const before = await world.context.payments.find(id);
      if (answer !== null) world.gateway.picture = async (): Promise<PictureAnswer> => answer;
      await observed(world, id);
      expect(await world.context.payments.find(id)).toEqual(before);
    },
  );
});

describeOnEveryStore("an operation that is open when the gateway's picture is drawn", (open) => {
  test.each([
    ["capture", "tok_capture_timeout_captured", "captured"],
    ["void", "tok_void_timeout_captured", "voided"],
    ["refund", "tok_refund_timeout_captured", "captured"],
  ] as const)(
    "a picture settles a %s whose answer was lost, with %s: the payment is %s",
    async (kind, token, status) => {
      const world = await open();
      const id = kind === "refund" ? await world.captured(token) : await world.authorize(token);
      expect((await world[kind](id, "k")).operation.status).toBe("unknown");
      await observed(world, id);
      expect(visibleStatus(await world.payment(id))).toBe(status);
      expect(openOperationOf(await world.payment(id))).toBeUndefined();
      expect((await world[kind](id, "k")).operation.status).toBe("succeeded");
      expect(await world.timesMoved(id, kind)).toBe(1);
    },
  );

  test.each([
    ["capture", "tok_capture_timeout_captured"],
    ["void", "tok_void_timeout_captured"],
    ["refund", "tok_refund_timeout_captured"],
  ] as const)(
    "a %s whose answer was lost, with %s, is asked about by its key where no picture comes",
    async (kind, token) => {
      const world = await open();
      const id = kind === "refund" ? await world.captured(token) : await world.authorize(token);
      expect((await world[kind](id, "k")).operation.status).toBe("unknown");
      world.gateway.picture = async () => ({ outcome: "unknown", reason: "timeout" });
      const { isPictured, observations } = await world.observe(id);
      expect(isPictured).toBe(false);
      expect(observations.at(-1)).toMatchObject({ seen: { outcome: "succeeded" }, result: "settled" });
      expect(openOperationOf(await world.payment(id))).toBeUndefined();
      await observed(world, id);
      expect(await world.timesMoved(id, kind)).toBe(1);
    },
  );

  test("an open capture is asked about by its key also where the picture fails only when it is drawn for the second time", async () => {
    const world = await open();
    const id = await world.authorize("tok_capture_timeout_captured");
    await world.capture(id, "k");
    world.gateway.next("picture", (real) => real());
    world.gateway.next("picture", async () => ({ outcome: "unknown", reason: "timeout" }));
    const { observations } = await world.observe(id);
    expect(observations.at(-1)).toMatchObject({ seen: { outcome: "succeeded" }, result: "settled" });
  });

  test("an authorization whose answer was lost is asked about by its key, because nothing else is known of it", async () => {
    const world = await open();
    const id = await world.authorize("tok_authorize_timeout_captured");
    await observed(world, id);
    expect(visibleStatus(await world.payment(id))).toBe("authorized");
  });

  test.each([
    ["tok_capture_timeout_not_captured", "unknown"],
    ["tok_capture_late_60000", "unknown"],
    ["tok_capture_processing", "pending"],
  ])(
    "an open capture stays open while the gateway shows nothing of it, with %s as %s, and is not sent again",
    async (token, status) => {
      const world = await open();
      const id = await world.authorize(token);
      await world.capture(id, "k");
      await observed(world, id);
      expect(openOperationOf(await world.payment(id))).toMatchObject({ kind: "capture", status });
    },
  );

  test("an open capture goes before a person when others have captured, and theirs is not counted beside it", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_0");
    // Ours is on its way, or lost: nobody knows.
    world.gateway.next("capture", async () => ({ outcome: "unknown", reason: "timeout" }));
    expect((await world.capture(id, "k")).operation.status).toBe("unknown");
    await observed(world, id);
    expect(await kindsOf(world, id)).toEqual([
      "holdfast authorize succeeded",
      "holdfast capture needs_review",
    ]);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountCaptured: 0n });
    const [reviewed] = ((await world.context.payments.events(id)) ?? []).slice(-1);
    expect(reviewed).toMatchObject({
      type: "operation.needs_review",
      data: {
        reason: expect.stringContaining("captured under no operation of ours"),
        gatewayReference: expect.stringContaining("elsewhere"),
        gateway: { asked: "picture" },
      },
    });

    // Ours did not move: theirs is counted, once, by the verdict itself.
    await world.review(openOperationOf(await world.payment(id))!.id, { outcome: "not_moved" });
    expect(await kindsOf(world, id)).toEqual([
      "holdfast authorize succeeded",
      "holdfast capture failed",
      "gateway capture succeeded",
    ]);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
    });
    await observed(world, id);
  });

  test("an open capture of what others have cancelled ends as declined, by the write that counts their void", async () => {
    const world = await open();
    const id = await world.authorize("tok_voided_elsewhere_0");
    world.gateway.next("capture", async () => ({ outcome: "unknown", reason: "timeout" }));
    expect((await world.capture(id, "k")).operation.status).toBe("unknown");
    await observed(world, id);
    expect(await kindsOf(world, id)).toEqual([
      "holdfast authorize succeeded",
      "holdfast capture failed",
      "gateway void succeeded",
    ]);
    expect(figuresOf(await world.payment(id))).toMatchObject({ visibleStatus: "voided", amountCaptured: 0n });
    expect(await codeOf(world.capture(id, "k"))).toBe("capture_declined");
    expect(await world.timesMoved(id, "capture")).toBe(0);
  });

  test("a refund of others counts while one of ours is open, and both are counted when ours has succeeded", async () => {
    const world = await open();
    const id = await world.captured("tok_refunded_elsewhere_0");
    world.gateway.next("refund", async () => ({ outcome: "unknown", reason: "timeout" }));
    expect((await world.refund(id, "r", { amount: 70n })).operation.status).toBe("unknown");
    await observed(world, id);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "refunding",
      amountRefunded: 500n,
    });
    world.clock.advance(MINUTE);
    const { operation, payment } = await world.refund(id, "r", { amount: 70n });
    expect([operation.status, figuresOf(payment).amountRefunded]).toEqual(["succeeded", 570n]);
  });

  test("a capture that a person says is the one in the dashboard is not counted twice, and not doubted again", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_0");
    world.gateway.next("capture", async () => ({ outcome: "unknown", reason: "timeout" }));
    await world.capture(id, "k");
    await observed(world, id);
    await world.review(openOperationOf(await world.payment(id))!.id, { outcome: "moved" });
    await observed(world, id);
    expect(await kindsOf(world, id)).toEqual(["holdfast authorize succeeded", "holdfast capture succeeded"]);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountCaptured: 1_000n });
    expect(await world.context.payments.countInReview()).toBe(0);
  });
});

describeOnEveryStore("two who observe at once", (open) => {
  test.each(["with locks", "without"])(
    "two who observe at once write what others did once, %s",
    async (how) => {
      const world = await open(how === "without" ? {} : { locks: new MemoryLockProvider() });
      const id = await world.authorize("tok_captured_elsewhere_0");
      const both = new Gate();
      let asking = 0;
      for (let question = 0; question < 2; question += 1) {
        world.gateway.next("picture", async (real) => {
          asking += 1;
          if (asking === 2) both.open();
          await both.passed;
          return real();
        });
      }
      await Promise.all([world.observe(id), world.observe(id)]);
      expect(await kindsOf(world, id)).toEqual(["holdfast authorize succeeded", "gateway capture succeeded"]);
      expect((await world.eventTypes(id)).filter((type) => type === "payment.captured")).toHaveLength(1);
    },
  );

  test("two who observe at once: one that was faster between the picture and the write makes the other draw a new one", async () => {
    const world = await open();
    const id = await world.authorize();
    await world.capture(id, "c", { amount: 400n });
    const refund = { reference: "re_9", amount: 400n, operationId: null, reason: null } as const;
    world.gateway.shows({ refunds: [{ ...refund, state: "succeeded" }] });
    const { payments } = world.context;
    const save = payments.save.bind(payments);
    payments.save = async (payment, version) => {
      payments.save = save;
      await detached(() => world.observe(id));
      return save(payment, version);
    };
    await world.observe(id);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountRefunded: 400n });
    expect(await kindsOf(world, id)).toHaveLength(3);
  });

  test("two who observe at once: a capture that is begun meanwhile is met by the picture of its own time", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_0");
    const { payments } = world.context;
    const save = payments.save.bind(payments);
    payments.save = async (payment, version) => {
      payments.save = save;
      world.gateway.next("capture", async () => ({ outcome: "unknown", reason: "timeout" }));
      await detached(() => world.capture(id, "k"));
      return save(payment, version);
    };
    await world.observe(id);
    expect(await kindsOf(world, id)).toEqual([
      "holdfast authorize succeeded",
      "holdfast capture needs_review",
    ]);
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountCaptured: 0n });
  });

  test("two who observe at once: a picture that is older than what is stored decides nothing", async () => {
    const world = await open();
    const id = await world.captured();
    const refund = { reference: "re_9", amount: 400n, operationId: null } as const;
    const succeeded = { ...refund, state: "succeeded", reason: null } as const;
    world.gateway.shows({ refunds: [succeeded] });
    await world.observe(id);
    const stale = world.gateway.picture;
    world.gateway.shows({ refunds: [{ ...refund, state: "failed", reason: "account_closed" }] });
    const fresh = world.gateway.picture;
    await world.observe(id);
    const before = await world.context.payments.find(id);
    let drawn = 0;
    world.gateway.picture = async (request) => {
      drawn += 1;
      const answer = await (drawn === 1 ? stale : fresh)?.(request);
      return answer ?? { outcome: "unknown", reason: "none" };
    };
    await world.observe(id);
    expect(drawn).toBe(2);
    expect(await world.context.payments.find(id)).toEqual(before);
  });

  test("two who observe at once: a store that fails leaves everything as it was, until somebody asks again", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_0");
    const before = await world.context.payments.find(id);
    const { payments } = world.context;
    const save = payments.save.bind(payments);
    payments.save = async () => {
      payments.save = save;
      throw new StoreUnavailableError("gone");
    };
    expect(await codeOf(world.observe(id) as never)).toBe("service_unavailable");
    expect(await payments.find(id)).toEqual(before);
    await observed(world, id);
    expect(visibleStatus(await world.payment(id))).toBe("captured");
  });
});

describeOnEveryStore("a dispute", (open) => {
  test("a dispute is told when it is opened, when it changes and when it is over, and the payment shows it", async () => {
    const world = await open();
    const id = await world.authorize("tok_dispute_60000");
    await world.capture(id, "c");
    await observed(world, id);
    expect((await world.payment(id)).facts.disputes).toEqual([]);
    world.clock.advance(MINUTE);
    await observed(world, id);
    const { authorizationReference } = (await world.payment(id)).facts;
    expect(publicPayment(await world.payment(id)).disputes).toEqual([
      {
        id: `dispute_${authorizationReference}`,
        status: "needs_response",
        amount: 1_000,
        reason: "fraudulent",
        dueBy: new Date(world.clock.now().getTime() + 7 * DAY).toISOString(),
      },
    ]);
    world.clock.advance(DAY);
    await observed(world, id);
    expect((await world.payment(id)).facts.disputes).toMatchObject([{ status: "under_review" }]);
    world.clock.advance(7 * DAY);
    await observed(world, id);
    expect((await world.payment(id)).facts.disputes).toMatchObject([{ status: "lost", dueBy: null }]);
    const told = (await world.eventTypes(id)).filter((type) => type.startsWith("dispute."));
    expect(told).toEqual(["dispute.opened", "dispute.updated", "dispute.closed"]);
    // What the gateway withdraws for it is no refund.
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountRefunded: 0n,
    });
  });

  test("a dispute that is over when it is first heard of is told as opened, and as closed", async () => {
    const world = await open();
    const id = await world.authorize("tok_dispute_0");
    await world.capture(id, "c");
    world.clock.advance(8 * DAY);
    await observed(world, id);
    expect((await world.eventTypes(id)).slice(-2)).toEqual(["dispute.opened", "dispute.closed"]);
  });

  test("a dispute is in no answer to a key, which is the same as before when it is repeated", async () => {
    const world = await open();
    const id = await world.authorize("tok_dispute_0");
    const first = await world.capture(id, "c");
    await world.observe(id);
    const again = await world.capture(id, "c");
    expect(publicPayment(again.payment)).toEqual(publicPayment(first.payment));
    expect(publicPayment((await world.refund(id, "r")).payment).disputes).toEqual([]);
    expect(publicPayment(await world.payment(id)).disputes).toHaveLength(1);
  });

  test("a dispute stays with its payment when something else is written", async () => {
    const world = await open();
    const id = await world.authorize("tok_dispute_0");
    await world.capture(id, "c");
    await world.observe(id);
    await world.refund(id, "r", { amount: 100n });
    expect((await world.payment(id)).facts.disputes).toHaveLength(1);
  });
});
