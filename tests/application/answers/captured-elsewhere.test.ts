import { visibleStatus, openOperationOf } from "../../../src/domain/payment/payment";
import type { PaymentId } from "../../../src/domain/identifiers";
import { EXPIRY_GRACE_MS } from "../../../src/application/use-cases/expire-authorizations";
import { figuresOf } from "../../support/worlds/payments";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { codeOf, type PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;

/** An expired payment whose release has not been sent yet. */
async function expired(world: PaymentsWorld, token: string): Promise<PaymentId> {
  const id = await world.authorize(token, 1_000n, 60);
  world.clock.advance(60_000);
  expect(await codeOf(world.capture(id, "late"))).toBe("payment_expired");
  return id;
}

async function releaseOf(world: PaymentsWorld, id: PaymentId) {
  const release = (await world.payment(id)).facts.operations.at(-1);
  if (release?.kind !== "void" || release.idempotencyKey !== null) throw new Error("that is no release");
  return release;
}

/** Sixty days of passes, four a day. */
async function twoMonths(world: PaymentsWorld): Promise<void> {
  for (let pass = 0; pass < 240; pass += 1) {
    world.clock.advance(6 * HOUR);
    await world.reconcile();
  }
  expect(world.errors).toEqual([]);
}

function voids(world: PaymentsWorld): number {
  return world.gateway.calls.filter((call) => call === "void").length;
}

describeOnEveryStore("money that was captured elsewhere", (open) => {
  test("money that was captured elsewhere ends the release that meets it, and the payment shows the capture", async () => {
    const world = await open();
    const id = await expired(world, "tok_void_captured_elsewhere");
    await world.reconcile();
    const payment = await world.payment(id);
    expect(figuresOf(payment)).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
      openOperation: undefined,
    });
    const [, release, capture] = payment.facts.operations;
    expect(release).toMatchObject({ kind: "void", status: "failed", failureCode: "void_declined", n: 1 });
    expect(capture).toMatchObject({
      kind: "capture",
      origin: "gateway",
      status: "succeeded",
      amount: 1_000n,
      idempotencyKey: null,
      gatewayReference: expect.stringContaining("elsewhere"),
    });
    expect(await world.context.payments.countInReview()).toBe(0);
    const events = (await world.context.payments.events(id)) ?? [];
    expect(events.slice(-5).map(({ type }) => type)).toEqual([
      "operation.needs_review",
      "void.failed",
      "review.resolved",
      "capture.succeeded",
      "payment.captured",
    ]);
    expect(events.at(-1)?.data).toMatchObject({
      by: { reconciler: true },
      gateway: { asked: "picture", answer: "captured", captured: { operationId: null, amount: 1_000 } },
    });
    const calls = world.gateway.calls.length;
    await twoMonths(world);
    expect(world.gateway.calls).toHaveLength(calls);
    expect(voids(world)).toBe(1);
    expect(await world.timesMoved(id, "void")).toBe(0);
  });

  test("money that was captured elsewhere is shown by the sweeper that let the authorization expire", async () => {
    const world = await open();
    const id = await world.authorize("tok_captured_elsewhere_30000", 1_000n, 60);
    world.clock.advance(60_000 + EXPIRY_GRACE_MS);
    expect(await world.expire()).toEqual({ done: 1, skipped: 0, failed: 0 });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
      openOperation: undefined,
    });
    expect(await codeOf(world.refund(id, "r"))).toBe("succeeded");
  });

  test("money that was captured elsewhere is shown also after the gateway did not answer at first: it is asked as long as the review lasts", async () => {
    const world = await open();
    const id = await expired(world, "tok_void_captured_elsewhere");
    world.gateway.next("picture", async () => ({ outcome: "unknown", reason: "timeout" }));
    await world.reconcile();
    expect(await releaseOf(world, id)).toMatchObject({ status: "needs_review" });
    expect(visibleStatus(await world.payment(id))).toBe("expired");
    world.clock.advance(5 * 60_000);
    await world.reconcile();
    expect(visibleStatus(await world.payment(id))).toBe("captured");
    expect(await world.context.payments.countInReview()).toBe(0);
  });

  test("money that was captured elsewhere ends a caller's void as refused, and its key says so from then on", async () => {
    const world = await open();
    const id = await world.authorize("tok_void_captured_elsewhere");
    expect(await codeOf(world.void(id, "v"))).toBe("needs_review");
    expect(visibleStatus(await world.payment(id))).toBe("voiding");
    expect(await codeOf(world.capture(id, "c"))).toBe("void_in_progress");
    await world.observe(id);
    expect(visibleStatus(await world.payment(id))).toBe("captured");
    expect(await codeOf(world.void(id, "v"))).toBe("void_declined");
    expect(await codeOf(world.capture(id, "c"))).toBe("payment_already_captured");
    expect(await codeOf(world.refund(id, "r"))).toBe("succeeded");
    expect(await world.timesMoved(id, "capture")).toBe(1);
  });

  test("money that was captured elsewhere refutes the verdict that a void has let it go, unless the person says why", async () => {
    const world = await open();
    const id = await world.authorize("tok_void_captured_elsewhere");
    await world.void(id, "v").catch(() => {});
    const operationId = openOperationOf(await world.payment(id))!.id;
    expect(await codeOf(world.review(operationId, { outcome: "moved" }))).toBe("review_contradicts_gateway");
    await world.review(operationId, { outcome: "moved", overrideReason: "given back by hand" });
    expect(visibleStatus(await world.payment(id))).toBe("voided");
  });

  test("money that was captured elsewhere is counted by the very verdict that ours did not move", async () => {
    const world = await open();
    const id = await world.authorize("tok_void_captured_elsewhere");
    await world.void(id, "v").catch(() => {});
    await world.review(openOperationOf(await world.payment(id))!.id, { outcome: "not_moved" });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
    });
  });
});

describeOnEveryStore("money captured elsewhere at a gateway that knows only of our keys", (open) => {
  const withoutPictures = { withoutPictures: true };

  test("money captured elsewhere at a gateway that knows only of our keys brings the release that meets it before a person, with the gateway's reference", async () => {
    const world = await open(withoutPictures);
    const id = await expired(world, "tok_void_captured_elsewhere");
    await world.reconcile();
    expect(await releaseOf(world, id)).toMatchObject({ status: "needs_review", n: 1 });
    expect(await world.context.payments.countInReview()).toBe(1);
    const { authorizationReference } = (await world.payment(id)).facts;
    expect((await world.context.payments.events(id))?.at(-1)).toMatchObject({
      type: "operation.needs_review",
      data: {
        release: true,
        reason: expect.stringContaining("captured, while it was to be voided"),
        gatewayReference: authorizationReference,
      },
    });
    await twoMonths(world);
    expect(voids(world)).toBe(1);
    expect(await world.timesMoved(id, "void")).toBe(0);
  });

  test.each([
    ["not_moved", "failed"],
    ["moved", "succeeded"],
  ] as const)(
    "a release of money captured elsewhere ends by the verdict %s, and nothing goes on after it",
    async (outcome, status) => {
      const world = await open(withoutPictures);
      const id = await expired(world, "tok_void_captured_elsewhere");
      await world.reconcile();
      const release = (await releaseOf(world, id)).id;
      if (outcome === "moved") {
        // The gateway says that the money was taken.
        expect(await codeOf(world.review(release, { outcome }))).toBe("review_contradicts_gateway");
      }
      await world.review(release, {
        outcome,
        overrideReason: outcome === "moved" ? "taken back by hand" : null,
      });
      expect(await releaseOf(world, id)).toMatchObject({ status });
      const payment = await world.payment(id);
      expect(openOperationOf(payment)).toBeUndefined();
      expect(visibleStatus(payment)).toBe("expired");
      expect(await world.context.payments.countInReview()).toBe(0);
      const calls = world.gateway.calls.length;
      await twoMonths(world);
      expect(world.gateway.calls).toHaveLength(calls);
    },
  );

  test("money captured elsewhere at a gateway that knows only of our keys is not taken once more by a capture: that goes before a person, too, who may say that it moved", async () => {
    const world = await open(withoutPictures);
    const id = await world.authorize("tok_void_captured_elsewhere");
    await world.void(id, "v").catch(() => {});
    await world.review(openOperationOf(await world.payment(id))!.id, { outcome: "not_moved" });
    expect(await codeOf(world.void(id, "v"))).toBe("void_declined");
    expect(await codeOf(world.capture(id, "c"))).toBe("needs_review");
    expect(await world.timesMoved(id, "capture")).toBe(1);
    await world.review(openOperationOf(await world.payment(id))!.id, { outcome: "moved" });
    expect(visibleStatus(await world.payment(id))).toBe("captured");
    expect(await codeOf(world.refund(id, "r"))).toBe("succeeded");
    expect(await world.timesMoved(id, "capture")).toBe(1);
  });
});

describeOnEveryStore("a release that is refused again and again", (open) => {
  test("a release that is refused again and again reaches a person, is not sent any more, and ends by a verdict", async () => {
    const world = await open();
    const id = await expired(world, "tok_ok");
    for (let time = 0; time < 100; time += 1) {
      world.gateway.next("void", async () => ({ outcome: "declined", reason: "account_frozen" }));
    }
    await twoMonths(world);
    const release = await releaseOf(world, id);
    expect(release.status).toBe("needs_review");
    expect(voids(world)).toBe(13);
    expect(await world.context.payments.countInReview()).toBe(1);
    const told = (await world.context.payments.events(id))?.find(
      ({ type }) => type === "operation.needs_review",
    );
    expect(told?.data).toMatchObject({ release: true, reason: expect.stringContaining("account_frozen") });
    await world.review(release.id, { outcome: "not_moved" });
    expect(openOperationOf(await world.payment(id))).toBeUndefined();
  });

  test("a release that is refused again and again is not refused for ever by one answer that the gateway keeps for its key", async () => {
    const world = await open();
    const id = await expired(world, "tok_void_decline");
    await world.reconcile();
    world.clock.advance(HOUR);
    await world.reconcile();
    expect(await releaseOf(world, id)).toMatchObject({ status: "succeeded", n: 2 });
  });
});
