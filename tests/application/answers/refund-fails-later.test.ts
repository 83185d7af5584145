import { figuresOf } from "../../support/worlds/payments";
import {
  visibleStatus,
  operationOf,
  amountRefunded,
  amountCaptured,
} from "../../../src/domain/payment/payment";
import type { FindAnswer } from "../../../src/application/ports/payment-gateway";
import { StoreUnavailableError } from "../../../src/application/ports/payment-repository";
import type { OperationOutcome } from "../../../src/application/operations/operation-outcome";
import { AuthorizePayment } from "../../../src/application/use-cases/authorize-payment";
import type { ObservedPayment } from "../../../src/application/use-cases/observe-payment";
import { parseIdempotencyKey, parsePaymentId, type PaymentId } from "../../../src/domain/identifiers";
import { money, parseCurrency } from "../../../src/domain/money";
import { MemoryLockProvider } from "../../../src/infrastructure/locking/memory/memory-lock-provider";
import { startStripe, type StripeUnderTest } from "../../contracts/payment-gateways/stripe-gateway-harness";
import { describeOnEveryStore } from "../../support/worlds/every-store";
import { Gate } from "../../support/fakes/gate";
import { codeOf, PaymentsWorld } from "../../support/worlds/payments-world";

const HOUR = 3_600_000;
const FAILS = `tok_refund_fails_later_${HOUR}`;
const failed: FindAnswer = { outcome: "declined", reason: "refund_failed" };

const shown = ({ operation, payment }: OperationOutcome) => ({
  status: operation.status,
  failureCode: operation.failureCode,
  captured: amountCaptured(payment),
  refunded: amountRefunded(payment),
  refunds: payment.facts.operations.filter(({ kind }) => kind === "refund").map(({ status }) => status),
});
const results = ({ observations }: ObservedPayment) =>
  observations.map((one) => `${one.operation.kind}: ${"result" in one ? one.result : one.notAsked}`);

async function refundedAtGateway(world: PaymentsWorld, id: PaymentId): Promise<bigint | undefined> {
  const { authorizationReference } = (await world.payment(id)).facts;
  return (await world.simulated.authorization(id, authorizationReference ?? ""))?.refunded;
}

/** Refunded whole by `r`, which has failed at the gateway since. */
async function failedLater(world: PaymentsWorld) {
  const id = await world.captured(FAILS);
  const first = await world.refund(id, "r");
  world.clock.advance(HOUR);
  return { id, first };
}

describeOnEveryStore("a refund that fails at the gateway after it succeeded", (open) => {
  test("a refund that fails at the gateway after it succeeded is corrected when an operator asks, and another key refunds again", async () => {
    const world = await open();
    const { id, first } = await failedLater(world);
    expect(shown(first)).toMatchObject({ status: "succeeded", refunded: 1_000n });
    expect(await codeOf(world.refund(id, "r2"))).toBe("amount_exceeds_captured");
    expect(await refundedAtGateway(world, id)).toBe(0n);
    world.gateway.calls.length = 0;

    const observed = await world.observe(id);
    expect(results(observed)).toEqual(["authorize: agrees", "capture: agrees", "refund: corrected"]);
    expect(new Set(world.gateway.calls)).toEqual(new Set(["find", "picture"]));
    expect(figuresOf(await world.payment(id))).toMatchObject({ amountCaptured: 1_000n, amountRefunded: 0n });
    expect((await world.payment(id)).facts).toMatchObject({ status: "captured" });
    expect(observed.payment.facts).toEqual((await world.payment(id)).facts);
    const refund = observed.payment.facts.operations[2];
    expect(refund).toMatchObject({
      status: "failed",
      failureCode: "refund_declined",
      failureReason: "refund_failed",
      settledAt: first.operation.settledAt,
      settledSequence: first.operation.settledSequence,
      conflicted: false,
    });
    const event = (await world.context.payments.events(id))?.at(-1);
    expect(event).toMatchObject({
      type: "refund.failed",
      sequence: refund?.correctedSequence,
      data: {
        operationId: refund?.id,
        recorded: "succeeded",
        reason: "refund_failed",
        failureCode: "refund_declined",
        by: { key: "operator" },
        gateway: { asked: "find", key: `${refund?.id}.1`, answer: "declined", reason: "refund_failed" },
      },
    });

    // The same key has the same answer, and sends nothing; another one refunds again.
    world.gateway.calls.length = 0;
    const repeated = await world.refund(id, "r");
    expect(repeated.replayed).toBe(true);
    expect(shown(repeated)).toEqual(shown(first));
    expect(world.gateway.calls).toEqual([]);
    expect(shown(await world.refund(id, "r2"))).toMatchObject({
      status: "succeeded",
      refunded: 1_000n,
      refunds: ["failed", "succeeded"],
    });
    expect(amountRefunded(await world.payment(id))).toBe(1_000n);
    expect(await refundedAtGateway(world, id)).toBe(1_000n);
    expect(await world.timesMoved(id, "refund")).toBe(2);
  });

  test("a refund that fails at the gateway after it succeeded counts in the answers from before it was known, and in no later one", async () => {
    const world = await open();
    const id = await world.captured(FAILS);
    const first = await world.refund(id, "r", { amount: 300n });
    world.clock.advance(HOUR / 2);
    const second = await world.refund(id, "s", { amount: 200n });
    world.clock.advance(HOUR / 2);
    expect(results(await world.observe(id)).slice(2)).toEqual(["refund: corrected", "refund: agrees"]);
    const third = await world.refund(id, "t", { amount: 100n });
    expect(shown(third)).toMatchObject({ refunded: 300n, refunds: ["failed", "succeeded", "succeeded"] });
    world.clock.advance(HOUR / 2);
    expect(results(await world.observe(id))[3]).toBe("refund: corrected");
    expect(shown(await world.refund(id, "r", { amount: 300n }))).toEqual(shown(first));
    expect(shown(await world.refund(id, "s", { amount: 200n }))).toEqual(shown(second));
    expect(shown(await world.refund(id, "t", { amount: 100n }))).toEqual(shown(third));
    expect(amountRefunded(await world.payment(id))).toBe(100n);
    expect(await refundedAtGateway(world, id)).toBe(100n);
  });

  test("a refund that fails at the gateway after it succeeded is asked about again without effect, however often", async () => {
    const world = await open();
    const { id } = await failedLater(world);
    await world.observe(id);
    const before = await world.context.payments.find(id);
    const events = await world.eventTypes(id);
    expect(results(await world.observe(id))[2]).toBe("refund: agrees");
    expect(await world.context.payments.find(id)).toEqual(before);
    expect(await world.eventTypes(id)).toEqual(events);
  });

  test("a refund that fails at the gateway after it succeeded stays as it was when the store fails between the question and the correction, until somebody asks again", async () => {
    const world = await open();
    const { id } = await failedLater(world);
    const { payments } = world.context;
    const before = await payments.find(id);
    const save = payments.save.bind(payments);
    payments.save = async () => {
      payments.save = save;
      throw new StoreUnavailableError("gone");
    };
    expect(await codeOf(world.observe(id) as never)).toBe("service_unavailable");
    expect(await payments.find(id)).toEqual(before);
    expect(results(await world.observe(id))[2]).toBe("refund: corrected");
  });

  test.each(["with locks", "without"])("is corrected once by two operators at once, %s", async (how) => {
    const world = await open(how === "without" ? {} : { locks: new MemoryLockProvider() });
    const { id } = await failedLater(world);
    const asked = new Gate();
    let waiting = 0;
    for (let question = 0; question < 6; question += 1) {
      world.gateway.next("find", async (real) => {
        waiting += 1;
        if (waiting === 6) asked.open();
        await asked.passed;
        return real();
      });
    }
    const both = await Promise.all([world.observe(id), world.observe(id)]);
    expect(both.map((observed) => results(observed)[2])).toEqual(["refund: corrected", "refund: corrected"]);
    const told = (await world.eventTypes(id)).filter((type) => type === "refund.failed");
    expect(told).toHaveLength(1);
    expect(amountRefunded(await world.payment(id))).toBe(0n);
  });

  test("a refund that fails at the gateway after it succeeded is corrected although somebody else writes the payment between reading and writing", async () => {
    const world = await open();
    const { id } = await failedLater(world);
    const { payments } = world.context;
    const save = payments.save.bind(payments);
    payments.save = async (payment, version) => {
      payments.save = save;
      // The same correction, by somebody without our lock.
      await save(payment, version);
      return save(payment, version);
    };
    expect(results(await world.observe(id))[2]).toBe("refund: corrected");
    expect((await world.eventTypes(id)).filter((type) => type === "refund.failed")).toHaveLength(1);
  });

  test("a refund that fails at the gateway after it succeeded is corrected while another refund is open, which ends as it would have", async () => {
    const world = await open();
    const id = await world.captured(FAILS);
    await world.refund(id, "r", { amount: 400n });
    world.clock.advance(HOUR);
    world.gateway.next("refund", async (real) => {
      await real();
      return { outcome: "unknown", reason: "timeout" };
    });
    expect((await world.refund(id, "s", { amount: 600n })).operation.status).toBe("unknown");
    expect(results(await world.observe(id))).toEqual([
      "authorize: agrees",
      "capture: agrees",
      "refund: corrected",
      "refund: settled",
    ]);
    expect(figuresOf(await world.payment(id))).toMatchObject({
      openOperation: undefined,
      amountRefunded: 600n,
    });
    expect(await refundedAtGateway(world, id)).toBe(600n);
    expect(amountRefunded((await world.refund(id, "t", { amount: 400n })).payment)).toBe(1_000n);
  });

  test("a refund that fails at the gateway after it succeeded is applied to the payment as it is when the answers are there", async () => {
    const world = await open();
    const { id } = await failedLater(world);
    const answering = new Gate();
    // Refunds are asked about first.
    world.gateway.next("find", async (real) => answering.passed.then(real));
    const late = world.observe(id);
    await world.observe(id);
    await world.refund(id, "r2");
    answering.open();
    await late;
    expect((await world.payment(id)).facts.operations.map(({ status }) => status)).toEqual([
      "succeeded",
      "succeeded",
      "failed",
      "succeeded",
    ]);
    expect((await world.eventTypes(id)).filter((type) => type === "refund.failed")).toHaveLength(1);
  });

  test("a refund that fails at the gateway after it succeeded that succeeds at the gateway after all goes before a person, who can decide", async () => {
    const world = await open();
    const { id } = await failedLater(world);
    const { id: refund } = (await world.observe(id)).payment.facts.operations[2]!;
    world.gateway.answersQuestions({ outcome: "succeeded", reference: "re_1" });
    expect(results(await world.observe(id))[2]).toBe("refund: in_review");
    expect(operationOf(await world.payment(id), refund)).toMatchObject({
      status: "needs_review",
      conflicted: true,
    });
    await world.review(refund, { outcome: "moved" });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      amountRefunded: 1_000n,
      openOperation: undefined,
    });
    expect(operationOf(await world.payment(id), refund)).toMatchObject({
      status: "succeeded",
      failureCode: null,
      correctedSequence: null,
    });
  });
});

describeOnEveryStore("what the gateway says about other operations that have ended", (open) => {
  test("what the gateway says about other operations that have ended goes before a person with both sides when it cannot be true beside what is stored", async () => {
    const world = await open();
    const id = await world.captured();
    world.gateway.answersQuestions(failed);
    const { observations, payment } = await world.observe(id);
    const [, capture] = observations;
    expect(capture).toMatchObject({ result: "in_review", seen: failed });
    expect(visibleStatus(payment)).toBe("capturing");
    const event = (await world.context.payments.events(id))?.find(
      ({ type }) => type === "operation.evidence_conflict",
    );
    expect(event?.data).toMatchObject({
      operationId: capture?.operation.id,
      recorded: "succeeded",
      answer: "declined",
      gateway: { answer: "declined", reason: "refund_failed" },
    });
    await world.review(capture!.operation.id, { outcome: "moved", overrideReason: "seen in the dashboard" });
    expect(figuresOf(await world.payment(id))).toMatchObject({
      visibleStatus: "captured",
      amountCaptured: 1_000n,
    });
  });

  test.each<FindAnswer>([
    { outcome: "absent" },
    { outcome: "pending" },
    { outcome: "unknown", reason: "timeout" },
  ])("changes nothing when it is $outcome", async (answer) => {
    const world = await open();
    const id = await world.captured();
    await world.refund(id, "r");
    const before = await world.context.payments.find(id);
    world.gateway.answersQuestions(answer);
    expect(results(await world.observe(id))).toEqual([
      "authorize: inconclusive",
      "capture: inconclusive",
      "refund: inconclusive",
    ]);
    expect(await world.context.payments.find(id)).toEqual(before);
  });

  test("what the gateway says about other operations that have ended is not asked about an authorization that was made elsewhere, nor about what was never sent", async () => {
    const world = await open();
    const { payment } = await world.import("i", "ext_1000_eur_x.tok_capture_unreachable");
    expect(await codeOf(world.capture(payment.facts.id, "c"))).toBe("gateway_unavailable");
    world.gateway.calls.length = 0;
    expect(results(await world.observe(payment.facts.id))).toEqual([
      "authorize: made_elsewhere",
      "capture: not_sent",
    ]);
    expect(world.gateway.calls).toEqual(["picture"]);
  });

  test("what the gateway says about other operations that have ended is asked eight at a time, about 48 at most, refunds first", async () => {
    const world = await open({ withoutPictures: true });
    const id = await world.captured();
    for (let n = 0; n < 50; n += 1) await world.refund(id, `r${n}`, { amount: 1n });
    let atOnce = 0;
    let most = 0;
    world.gateway.calls.length = 0;
    for (let n = 0; n < 48; n += 1) {
      world.gateway.next("find", async (real) => {
        atOnce += 1;
        most = Math.max(most, atOnce);
        await new Promise(setImmediate);
        atOnce -= 1;
        return real();
      });
    }
    const told = results(await world.observe(id));
    expect(world.gateway.calls).toHaveLength(48);
    expect(most).toBe(8);
    expect(told.slice(0, 4)).toEqual([
      "authorize: too_many",
      "capture: too_many",
      "refund: too_many",
      "refund: too_many",
    ]);
    expect(new Set(told.slice(4))).toEqual(new Set(["refund: agrees"]));
  });

  test("what the gateway says about other operations that have ended is corrected however many came after it: the next request goes on behind those of the one before", async () => {
    const world = await open();
    const id = await world.captured(FAILS);
    await world.refund(id, "first", { amount: 500n });
    world.clock.advance(HOUR / 2);
    for (let n = 0; n < 49; n += 1) await world.refund(id, `r${n}`, { amount: 10n });
    world.clock.advance(HOUR / 2);
    const page = await world.observe(id);
    expect(results(page)).toContain("refund: too_many");
    expect(amountRefunded(await world.payment(id))).toBe(990n);
    const rest = await world.observe(id, page.next);
    expect(results(rest)).toContain("refund: corrected");
    expect(amountRefunded(await world.payment(id))).toBe(490n);
    expect([page.next === null, rest.next]).toEqual([false, null]);
  });
});

test("a payment that is not there cannot be asked about", async () => {
  const nobody = parsePaymentId("018f3a9e-0000-7000-8000-000000000000");
  expect(await codeOf(new PaymentsWorld().observe(nobody) as never)).toBe("payment_not_found");
});

describe("at Stripe", () => {
  let stripe: StripeUnderTest;
  beforeEach(async () => {
    stripe = await startStripe();
  });
  afterEach(() => stripe.stop());

  async function authorized(): Promise<{ world: PaymentsWorld; id: PaymentId }> {
    const world = new PaymentsWorld();
    Object.assign(world.context, { gateway: stripe.gateway });
    const { payment } = await new AuthorizePayment(world.locks, world.context).execute(
      {
        idempotencyKey: parseIdempotencyKey("order"),
        amount: money(5_000n, parseCurrency("EUR")),
        paymentMethod: "pm_card_visa",
        reference: null,
        metadata: {},
        expiresInSeconds: 7 * 86_400,
      },
      world.caller(),
    );
    return { world, id: payment.facts.id };
  }

  test("a refund whose status becomes failed is corrected, and made again under another key", async () => {
    const { world, id } = await authorized();
    await world.capture(id, "c");
    await world.refund(id, "kept", { amount: 1_000n });
    stripe.standIn.arm("refund", "fails_later");
    const first = await world.refund(id, "r", { amount: 4_000n });
    stripe.standIn.timePasses();
    const sent = stripe.standIn.requests.length;
    expect(results(await world.observe(id))).toEqual([
      "authorize: agrees",
      "capture: agrees",
      "refund: agrees",
      "refund: corrected",
    ]);
    expect(stripe.standIn.requests.slice(sent).every((line) => line.startsWith("GET "))).toBe(true);
    expect((await world.payment(id)).facts.operations[3]).toMatchObject({
      failureReason: "expired_or_canceled_card",
    });
    expect(shown(await world.refund(id, "r", { amount: 4_000n }))).toEqual(shown(first));
    const again = await world.refund(id, "r2", { amount: 4_000n });
    expect(amountRefunded(again.payment)).toBe(5_000n);
    const succeeded = stripe.standIn.world.refunds.filter(({ status }) => status === "succeeded");
    expect(succeeded.map(({ amount }) => amount)).toEqual([1_000, 4_000]);
  });

  test.each<[string, (world: PaymentsWorld, id: PaymentId) => Promise<unknown>]>([
    ["authorized", async () => undefined],
    ["captured in part", (world, id) => world.capture(id, "c", { amount: 1_000n })],
    [
      "captured after a capture that was refused",
      async (world, id) => {
        stripe.standIn.arm("capture", "refused");
        await codeOf(world.capture(id, "refused"));
        await world.capture(id, "c");
      },
    ],
    ["voided", (world, id) => world.void(id, "v")],
    [
      "expired and released",
      async (world) => {
        world.clock.advance(8 * 86_400_000);
        await world.expire();
        await world.reconcile();
      },
    ],
    [
      "refunded in part, after a refund that was refused",
      async (world, id) => {
        await world.capture(id, "c");
        stripe.standIn.arm("refund", "refused");
        await codeOf(world.refund(id, "refused"));
        await world.refund(id, "r", { amount: 1_000n });
      },
    ],
    [
      "let go by Stripe, and then not captured",
      async (world, id) => {
        stripe.standIn.arm("capture", "lapsed");
        await codeOf(world.capture(id, "c"));
        world.clock.advance(8 * 86_400_000);
        await world.reconcile();
      },
    ],
  ])("nothing contradicts a payment that was %s", async (_what, live) => {
    const { world, id } = await authorized();
    await live(world, id);
    const before = await world.context.payments.find(id);
    const observed = await world.observe(id);
    expect(results(observed).filter((one) => !/agrees|inconclusive/.test(one))).toEqual([]);
    expect(await world.context.payments.find(id)).toEqual(before);
  });

  test("an authorization that somebody captured in the dashboard goes before a person where no picture is drawn", async () => {
    const { world, id } = await authorized();
    Object.assign(stripe.gateway, { picture: undefined });
    const { authorizationReference } = (await world.payment(id)).facts;
    stripe.standIn.world.captureInDashboard(authorizationReference ?? "");
    expect(results(await world.observe(id))).toEqual(["authorize: in_review"]);
    expect(await world.context.payments.countInReview()).toBe(1);
  });
});
