import { AUTHENTICATION_REQUIRED } from "../../../src/domain/payment/customer/customer-action";
import {
  decideAuthorizeAgain,
  decideCapture,
  decideRefund,
  decideVoid,
  type Decision,
} from "../../../src/domain/payment/decide-movement";
import { parseIdempotencyKey } from "../../../src/domain/identifiers";
import { parseCurrency } from "../../../src/domain/money";
import { isLapsed } from "../../../src/domain/payment/expiry";
import type { Operation } from "../../../src/domain/payment/operation";
import {
  amountCapturable,
  amountCaptured,
  amountRefunded,
  asItWasAfter,
  operationOfKey,
  visibleStatus,
  type Payment,
} from "../../../src/domain/payment/payment";
import { disputeStatuses, type GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";
import { compare, observe } from "../../../src/domain/payment/picture/observation";
import { observePicture } from "../../../src/domain/payment/picture/observe-picture";
import { isMovementOf } from "../../../src/domain/payment/picture/statement-of";
import { mustBeOpen } from "../../../src/domain/payment/record/operation-rows";
import { resolveReview } from "../../../src/domain/payment/review";
import { applyVerdict, settle } from "../../../src/domain/payment/settlement";
import { claimResend, notSent, stillUnknown } from "../../../src/domain/payment/waiting";
import {
  after,
  authorizedPayment,
  authorizingPayment,
  begin,
  begunBy,
  capturedPayment,
  capturingPayment,
  declines,
  expiredPayment,
  forged,
  forgedOperation,
  inReview,
  openOperation,
  refusalOf,
  settled,
  step,
  succeeds,
  WEEK_MS,
} from "../../support/worlds/payments";

const HOUR = 60 * 60_000;
const EUR = parseCurrency("EUR");

function of(payment: Payment, kind: Operation["kind"]): Operation {
  return payment.facts.operations.findLast((one) => one.kind === kind)!;
}

function withChanged(payment: Payment, id: string, change: Partial<Operation>): Payment {
  const operations = payment.facts.operations.map((one) => (one.id === id ? { ...one, ...change } : one));
  return forged(payment, { operations });
}

function refunded(payment: Payment, amount: bigint): Payment {
  return settled(begunBy(decideRefund(payment, begin(), { amount }, step())).payment, succeeds("re_1"));
}

function factsOf(decision: Decision): unknown {
  return decision.outcome === "refused" ? decision.refusal.facts : decision.outcome;
}

describe("what may begin", () => {
  const capture = (wanted: { amount?: bigint; currency?: typeof EUR }) =>
    decideCapture(authorizedPayment(), begin(), wanted, step());

  test("a capture may take exactly what is authorized, and nothing more", () => {
    expect(capture({ amount: 1_000n, currency: EUR }).outcome).toBe("begun");
    expect(factsOf(capture({ amount: 1_001n }))).toEqual({ maxAmount: 1_000n });
    expect(factsOf(capture({ currency: parseCurrency("USD") }))).toEqual({ currency: "EUR" });
  });

  test("a refund may give back exactly what is left, and of nothing that is left nothing", () => {
    const partly = refunded(capturedPayment(), 300n);
    const refund = (payment: Payment, amount?: bigint) =>
      decideRefund(payment, begin(), { amount, currency: EUR }, step());
    expect(of(begunBy(refund(partly)).payment, "refund").amount).toBe(700n);
    expect(refund(partly, 700n).outcome).toBe("begun");
    expect(factsOf(refund(partly, 701n))).toEqual({ maxAmount: 700n });
    expect(factsOf(refund(refunded(partly, 700n)))).toEqual({ maxAmount: 0n });
  });

  test("a void of a lapsed authorization is refused, and the authorization ends by that", () => {
    const decision = decideVoid(authorizedPayment(), begin(), step(after(WEEK_MS)));
    expect(decision).toMatchObject({
      outcome: "refused",
      refusal: { code: "payment_not_voidable", facts: { paymentStatus: "expired" } },
      changed: { facts: { status: "expired" } },
    });
  });

  test("a void waits for a capture that is under way, as a capture does; the refusal says what is pending", () => {
    const capturing = capturingPayment();
    expect(refusalOf(decideVoid(capturing, begin(), step()))).toBe("capture_in_progress");
    const paymentId = capturing.facts.id;
    expect(factsOf(decideCapture(capturing, begin(), {}, step()))).toEqual({ paymentId });
    const pending = applyVerdict(capturing, openOperation(capturing).id, { outcome: "pending" }, step());
    expect(factsOf(decideCapture(pending, begin(), {}, step()))).toEqual({
      paymentId,
      operationStatus: "pending",
    });
  });

  test("an authorization that was never sent is begun again with a time of its own", () => {
    const wanting = authorizingPayment({ key: "k" });
    const unsent = notSent(wanting, openOperation(wanting).id, "no route", step());
    const again = decideAuthorizeAgain(unsent, begin("k"), after(2 * WEEK_MS), step(after(HOUR)));
    expect(begunBy(again).payment.facts).toMatchObject({
      status: "authorizing",
      expiresAt: after(2 * WEEK_MS),
      operations: [{ status: "started", firstSentAt: after(HOUR) }],
    });
  });

  test("what is authorized, or is to be, lapses at its end; nothing else does", () => {
    const lapsed = (payment: Payment) => [WEEK_MS - 1, WEEK_MS].map((ms) => isLapsed(payment, after(ms)));
    expect(lapsed(authorizedPayment())).toEqual([false, true]);
    expect(lapsed(authorizingPayment())).toEqual([false, true]);
    expect(lapsed(capturedPayment())).toEqual([false, false]);
  });
});

describe("what is read off a payment", () => {
  test("a caller sees what is under way, but for a release, and how much can be captured", () => {
    const wanting = authorizingPayment({ returnUrl: "https://shop.example" });
    const action = { outcome: "requires_action", reference: "a", url: "https://bank.example" } as const;
    const payments = [
      wanting,
      applyVerdict(wanting, openOperation(wanting).id, action, step()),
      authorizedPayment(),
      capturingPayment(),
      begunBy(decideVoid(authorizedPayment(), begin(), step())).payment,
      capturedPayment(),
      begunBy(decideRefund(capturedPayment(), begin(), {}, step())).payment,
      expiredPayment(),
    ];
    expect(payments.map((payment) => [visibleStatus(payment), amountCapturable(payment)])).toEqual([
      ["authorizing", 0n],
      ["requires_action", 0n],
      ["authorized", 1_000n],
      ["capturing", 0n],
      ["voiding", 0n],
      ["captured", 0n],
      ["refunding", 0n],
      ["expired", 0n],
    ]);
  });

  test("a key belongs to one kind of operation", () => {
    const failed = settled(capturingPayment(authorizedPayment(), undefined, "k"), declines());
    const payment = begunBy(decideVoid(failed, begin("k"), step())).payment;
    const key = parseIdempotencyKey("k");
    const kinds = (["capture", "void", "refund"] as const).map(
      (kind) => operationOfKey(payment, kind, key)?.kind,
    );
    expect(kinds).toEqual(["capture", "void", undefined]);
  });

  test("a refund that the gateway took back counted when its answer was given, and not in later ones", () => {
    const first = refunded(capturedPayment(), 300n);
    const taken = observe(first, of(first, "refund").id, declines("closed"), step());
    expect(amountRefunded(taken)).toBe(0n);
    const then = asItWasAfter(taken, of(taken, "refund"));
    expect(amountRefunded(then)).toBe(300n);
    expect(of(then, "refund")).toMatchObject({
      status: "succeeded",
      failureCode: null,
      failureReason: null,
      correctedSequence: null,
    });
    const later = refunded(taken, 200n);
    expect(amountRefunded(asItWasAfter(later, of(later, "refund")))).toBe(200n);
    expect(of(asItWasAfter(later, of(later, "capture")), "refund")).toBeUndefined();
  });

  test("the words that stores, events and gateways share stay what they are", () => {
    expect(disputeStatuses).toEqual(["needs_response", "under_review", "won", "lost", "closed"]);
    expect(AUTHENTICATION_REQUIRED).toBe("authentication_required");
  });
});

describe("what the gateway says of an operation that has ended", () => {
  test("a person's word against the gateway's is left at that, and without one it is a contradiction", () => {
    const captured = capturedPayment();
    const { id } = of(captured, "capture");
    const overridden = { ...step(), overridden: new Set([id]) };
    expect(observe(captured, id, declines(), overridden)).toBe(captured);
    expect(
      observe(captured, id, declines(), { ...step(), overridden: new Set() }).newEvents.at(-1),
    ).toMatchObject({
      type: "operation.needs_review",
    });
  });

  test("an authorization that was not waited for is not contradicted by what the void that followed lets go", () => {
    const wanting = forged(authorizingPayment(), { status: "voided" });
    const failed = { ...of(wanting, "authorize"), status: "failed" } as const;
    const comparedWith = (...others: readonly Partial<Operation>[]) =>
      compare(
        forged(wanting, { operations: [failed, ...others.map((one) => forgedOperation(wanting, one))] }),
        failed,
        succeeds(),
      );
    expect(comparedWith()).toBe("contradicts");
    expect(comparedWith({ kind: "capture" })).toBe("contradicts");
    expect(comparedWith({ kind: "void", status: "failed" })).toBe("contradicts");
    expect(comparedWith({ kind: "void", status: "succeeded" })).toBe("proves_nothing");
    expect(comparedWith({ kind: "void", status: "unknown" })).toBe("proves_nothing");
  });
});

describe("a picture", () => {
  const blank: GatewayPicture = {
    authorization: "captured",
    authorizedUntil: null,
    captured: null,
    cancellation: null,
    refunds: [],
    disputes: [],
  };
  const taken = (amount: bigint, operationId: string | null = null) => ({
    ...blank,
    captured: { reference: "ch_9", amount, operationId },
  });
  const look = (
    payment: Payment,
    picture: Partial<GatewayPicture>,
    overridden?: ReadonlySet<Operation["id"]>,
  ) => observePicture(payment, { ...blank, ...picture }, { ...step(), ...(overridden && { overridden }) });

  test("an earlier end at the gateway is no matter to money that was captured", () => {
    const captured = capturedPayment();
    expect(look(captured, { ...taken(1_000n, of(captured, "capture").id), authorizedUntil: after(1) })).toBe(
      captured,
    );
    expect(
      look(authorizedPayment(), { authorization: "open", authorizedUntil: after(1) }).facts.expiresAt,
    ).toEqual(after(1));
  });

  test("a capture of others puts ours before a person, once", () => {
    const capturing = capturingPayment();
    const next = look(capturing, taken(1_000n, "another"));
    expect(openOperation(next)).toMatchObject({ kind: "capture", status: "needs_review" });
    expect(look(next, taken(1_000n, "another"))).toBe(next);
    expect(amountCaptured(next)).toBe(0n);
  });

  test("a capture of others ends a void of ours as refused, and a release in vain", () => {
    const voiding = begunBy(decideVoid(authorizedPayment(), begin(), step())).payment;
    const refused = look(voiding, taken(400n));
    expect(of(refused, "void")).toMatchObject({ status: "failed", failureCode: "void_declined" });
    expect([refused.facts.status, amountCaptured(refused)]).toEqual(["captured", 400n]);
    const released = look(expiredPayment(), taken(400n));
    expect(of(released, "void")).toMatchObject({ status: "failed", idempotencyKey: null });
    expect([released.facts.status, amountCaptured(released)]).toEqual(["captured", 400n]);
  });

  test("a capture elsewhere is counted of what can have been captured, and doubted of everything else", () => {
    const counted = (payment: Payment, amount: bigint) => amountCaptured(look(payment, taken(amount)));
    expect([counted(authorizedPayment(), 1_000n), counted(authorizedPayment(), 1_001n)]).toEqual([
      1_000n,
      0n,
    ]);
    expect(counted(authorizedPayment(), 0n)).toBe(0n);
    const doubted = look(authorizedPayment(), taken(1_001n));
    expect(of(doubted, "authorize")).toMatchObject({ status: "needs_review", conflicted: true });
    expect(look(doubted, taken(1_001n))).toBe(doubted);
    const declined = settled(authorizingPayment(), declines());
    expect(counted(declined, 400n)).toBe(0n);
  });

  test("a capture elsewhere contradicts a void that had succeeded, unless a person has decided that", () => {
    const voided = settled(
      begunBy(decideVoid(authorizedPayment(), begin(), step())).payment,
      succeeds("v_1"),
    );
    const { id } = of(voided, "void");
    const next = look(voided, taken(400n));
    expect(of(next, "void")).toMatchObject({ conflicted: true, status: "needs_review" });
    expect(look(voided, taken(400n), new Set([id]))).toBe(voided);
    expect(look(next, taken(400n))).toBe(next);
  });

  test("a capture of ours that had succeeded is contradicted by one of another amount", () => {
    const captured = capturedPayment();
    const { id } = of(captured, "capture");
    expect(of(look(captured, taken(900n, id)), "capture")).toMatchObject({ conflicted: true });
    expect(of(look(captured, taken(900n)), "capture")).toMatchObject({ conflicted: true });
    expect(look(captured, taken(1_000n, id))).toBe(captured);
  });

  test("a capture that was not sent, as far as is known, is settled by a picture of it, and left by one without", () => {
    const capturing = capturingPayment();
    const { id } = openOperation(capturing);
    const unsent = notSent(capturing, id, "no route", step());
    expect(of(look(unsent, taken(1_000n, id)), "capture")).toMatchObject({ conflicted: true });
    expect(of(look(unsent, taken(900n, id)), "capture")).toMatchObject({ status: "not_sent" });
    const failed = settled(capturing, declines());
    expect(of(look(failed, taken(1_000n, id)), "capture")).toMatchObject({ conflicted: true });
  });

  test("a cancellation by others lets the money go, unless a person has decided that it was not, or something is open", () => {
    const cancelled = {
      authorization: "cancelled",
      cancellation: { reference: "x_1", by: "others" },
    } as const;
    expect(look(authorizedPayment(), cancelled).facts.status).toBe("voided");
    expect(of(look(authorizedPayment(), cancelled), "void")).toMatchObject({
      origin: "gateway",
      gatewayReference: "x_1",
    });
    const { authorizationReference } = authorizedPayment({ authorizationReference: "auth_7" }).facts;
    const unnamed = look(authorizedPayment({ authorizationReference: "auth_7" }), {
      authorization: "cancelled",
    });
    expect(of(unnamed, "void").gatewayReference).toBe(authorizationReference);
    const refused = settled(begunBy(decideVoid(authorizedPayment(), begin(), step())).payment, declines());
    const { id } = of(refused, "void");
    expect(look(refused, cancelled, new Set([id]))).toBe(refused);
    expect(look(refused, cancelled).facts.status).toBe("voided");
    const named = { ...cancelled, cancellation: { reference: "x_1", by: { operationId: id } } };
    expect(of(look(refused, named), "void")).toMatchObject({ id, conflicted: true });
    expect(look(capturedPayment(), { ...cancelled }).facts.status).toBe("captured");
    const lapsed = look(authorizedPayment(), { authorization: "lapsed" });
    expect([lapsed.facts.status, of(lapsed, "void")]).toEqual(["expired", undefined]);
  });

  test("a refund elsewhere is counted as far as there is money left, once, and doubted beyond that", () => {
    const captured = capturedPayment();
    const whole = taken(1_000n, of(captured, "capture").id);
    const refund = {
      reference: "re_9",
      amount: 1_000n,
      operationId: null,
      state: "succeeded",
      reason: null,
    } as const;
    const counted = (...refunds: GatewayPicture["refunds"]) =>
      amountRefunded(look(captured, { ...whole, refunds }));
    expect(counted(refund)).toBe(1_000n);
    expect(counted({ ...refund, amount: 400n }, { ...refund, reference: "re_8", amount: 600n })).toBe(1_000n);
    expect(counted({ ...refund, amount: 400n }, { ...refund, amount: 400n })).toBe(400n);
    expect(counted({ ...refund, state: "pending" })).toBe(0n);
    expect(counted({ ...refund, state: "failed" })).toBe(0n);
    const doubted = look(captured, { ...whole, refunds: [{ ...refund, amount: 1_001n }] });
    expect(amountRefunded(doubted)).toBe(0n);
    expect(doubted.newEvents.find(({ type }) => type === "operation.evidence_conflict")?.data).toMatchObject({
      operationId: of(captured, "capture").id,
      evidence: "re_9: 1001 minor units were refunded elsewhere, and 1000 are left",
    });
    const none = look(captured, { ...whole, refunds: [{ ...refund, amount: 0n }] });
    expect(of(none, "capture").conflicted).toBe(true);
    const overridden = new Set([of(captured, "capture").id]);
    expect(look(captured, { ...whole, refunds: [{ ...refund, amount: 1_001n }] }, overridden)).toBe(captured);
    const uncaptured = look(authorizedPayment(), { authorization: "open", refunds: [refund] });
    expect(of(uncaptured, "authorize")).toMatchObject({ status: "needs_review" });
  });

  test("a refund of ours that was not sent, as far as is known, is settled by a picture of it", () => {
    const captured = capturedPayment();
    const begun = begunBy(decideRefund(captured, begin(), { amount: 400n }, step()));
    const unsent = notSent(begun.payment, begun.operationId, "no route", step());
    const refunds = [
      {
        reference: "re_1",
        amount: 400n,
        operationId: begun.operationId,
        state: "succeeded",
        reason: null,
      } as const,
    ];
    const next = look(unsent, { ...taken(1_000n, of(captured, "capture").id), refunds });
    expect(of(next, "refund")).toMatchObject({ id: begun.operationId, conflicted: true });
  });

  test("a movement is an operation's by its id, or by the gateway's name for it where it has one", () => {
    const capture = of(capturedPayment(), "capture");
    const seen = { reference: "cap_1", amount: 1n, operationId: null };
    expect(isMovementOf(seen, capture)).toBe(true);
    expect(isMovementOf({ ...seen, reference: "cap_2" }, capture)).toBe(false);
    expect(isMovementOf({ ...seen, reference: "cap_2", operationId: capture.id }, capture)).toBe(true);
    const nameless = { ...capture, gatewayReference: null };
    expect(isMovementOf({ ...seen, reference: null as never }, nameless)).toBe(false);
  });

  test("a capture that failed is not what others took under its name, unless the gateway says that it is ours", () => {
    const failed = withChanged(capturedPayment(), "", {});
    const own = of(failed, "capture");
    const payment = withChanged(forged(failed, { status: "authorized" }), own.id, { status: "failed" });
    expect(
      amountCaptured(look(payment, { captured: { reference: "cap_1", amount: 400n, operationId: null } })),
    ).toBe(400n);
    const ours = look(payment, { captured: { reference: "cap_1", amount: 400n, operationId: own.id } });
    expect(amountCaptured(ours)).toBe(0n);
  });
});

describe("an answer, or none", () => {
  const gone = { outcome: "authorization_gone", reason: "gone" } as const;

  test("that the authorization is gone ends a capture with the time of the payment, and a refund as refused", () => {
    const capturing = capturingPayment();
    const ended = applyVerdict(capturing, openOperation(capturing).id, gone, step());
    expect(of(ended, "capture")).toMatchObject({ status: "failed", failureCode: "payment_expired" });
    expect(ended.facts.status).toBe("expired");
    const refunding = begunBy(decideRefund(capturedPayment(), begin(), {}, step())).payment;
    const refused = settle(refunding, openOperation(refunding).id, { ...gone, cancelled: true }, step());
    expect(of(refused, "refund")).toMatchObject({ status: "failed", failureCode: "refund_declined" });
    expect(of(refused, "void")).toBeUndefined();
  });

  test("a refund that succeeds is told", () => {
    const refunding = begunBy(decideRefund(capturedPayment(), begin(), { amount: 400n }, step())).payment;
    const { id: operationId } = openOperation(refunding);
    const next = settled(refunding, succeeds("re_1"));
    expect(next.newEvents.at(-1)).toMatchObject({
      type: "refund.succeeded",
      data: { operationId, amount: 400 },
    });
  });

  test("a customer who is to act is news of an authorization alone", () => {
    const action = { outcome: "requires_action", reference: "a", url: "https://bank.example" } as const;
    const capturing = capturingPayment();
    const next = applyVerdict(capturing, openOperation(capturing).id, action, step());
    expect(openOperation(next)).toMatchObject({ kind: "capture", status: "unknown" });
    const wanting = authorizingPayment({ returnUrl: "https://shop.example" });
    const sent = applyVerdict(wanting, openOperation(wanting).id, action, step());
    expect(openOperation(sent).status).toBe("requires_action");
    expect(of(applyVerdict(sent, openOperation(sent).id, declines(), step()), "authorize").status).toBe(
      "failed",
    );
    for (const outcome of ["unknown", "pending", "absent"] as const)
      expect(applyVerdict(sent, openOperation(sent).id, { outcome, reason: "?" }, step())).toBe(sent);
  });

  test("a void in place of the customer is owed whatever becomes of a send, and let go by a release if it is refused", () => {
    const wanting = authorizingPayment({ returnUrl: "https://shop.example" });
    const action = { outcome: "requires_action", reference: "a", url: "https://bank.example" } as const;
    const waiting = applyVerdict(wanting, openOperation(wanting).id, action, step());
    const voiding = begunBy(decideVoid(waiting, begin(), step())).payment;
    const { id } = openOperation(voiding);
    expect(of(notSent(voiding, id, "no route", step()), "void")).toMatchObject({ id, status: "unknown" });
    const refused = settle(voiding, id, declines("no"), step());
    expect(refused.facts.status).toBe("declined");
    expect(refused.newEvents.slice(-2)).toMatchObject([
      { type: "payment.declined", data: { reason: "no" } },
      { type: "void.started", data: { release: true } },
    ]);
    const usual = begunBy(decideVoid(authorizedPayment(), begin(), step())).payment;
    expect(of(notSent(usual, openOperation(usual).id, "no route", step()), "void").status).toBe("not_sent");
    expect(of(notSent(wanting, openOperation(wanting).id, "no route", step()), "authorize").status).toBe(
      "not_sent",
    );
  });

  test("an operation that a crash has left unsent is sent from the time at which it is claimed", () => {
    const released = expiredPayment();
    const { id, firstSentAt } = openOperation(released);
    expect(firstSentAt).toBeNull();
    const claimed = claimResend(released, id, step(after(WEEK_MS + HOUR)));
    expect(openOperation(claimed).firstSentAt).toEqual(after(WEEK_MS + HOUR));
    expect(openOperation(claimResend(claimed, id, step(after(WEEK_MS + 2 * HOUR)))).firstSentAt).toEqual(
      after(WEEK_MS + HOUR),
    );
  });

  test("the first answer that is none is not one question of the schedule, and one that comes too early puts nothing off", () => {
    const capturing = capturingPayment();
    const { id, dueAt } = openOperation(capturing);
    const late = stillUnknown(capturing, id, "?", step(after(HOUR)));
    expect(openOperation(late)).toMatchObject({ attempts: 0, dueAt: after(HOUR + 5_000) });
    expect(dueAt).toEqual(after(5_000));
    const early = stillUnknown(late, id, "?", step(after(HOUR + 1_000)));
    expect(openOperation(early)).toMatchObject({ attempts: 0, dueAt: after(HOUR + 5_000) });
    const lostDue = withChanged(late, id, { dueAt: null });
    expect(openOperation(stillUnknown(lostDue, id, "?", step(after(HOUR + 1_000)))).dueAt).toEqual(
      after(HOUR + 6_000),
    );
  });

  test("what the gateway decides soon is asked about no later than it has decided", () => {
    const capturing = capturingPayment();
    const { id } = openOperation(capturing);
    const pending = applyVerdict(
      capturing,
      id,
      { outcome: "pending", decidesBy: after(30 * 60_000) },
      step(),
    );
    const asked = applyVerdict(pending, id, { outcome: "pending" }, step(after(5 * 60_000)));
    expect(openOperation(asked).dueAt).toEqual(after(35 * 60_000));
  });

  test("what is not there, or not open, is told by its id", () => {
    const captured = capturedPayment();
    const { id } = of(captured, "capture");
    expect(() => mustBeOpen(captured, id)).toThrow(`operation ${id} is succeeded, not open`);
    const another = authorizedPayment().facts.operations[0]!.id;
    expect(() => mustBeOpen(captured, another)).toThrow(
      `payment ${captured.facts.id} has no operation ${another}`,
    );
    const without = forged(authorizedPayment(), { operations: [] });
    const picture = {
      authorization: "captured",
      authorizedUntil: null,
      captured: { reference: "ch_1", amount: 2_000n, operationId: null },
      cancellation: null,
      refunds: [],
      disputes: [],
    } as const;
    expect(() => observePicture(without, picture, step())).toThrow(
      `payment ${without.facts.id} has no authorization`,
    );
  });
});

describe("a verdict", () => {
  const absent = { outcome: "absent" } as const;
  const decide = (
    payment: Payment,
    { id }: Operation,
    outcome: "moved" | "not_moved" | "pending",
    more: { gatewayReference?: string; seen?: Parameters<typeof resolveReview>[2]["seen"] } = {},
    now = after(HOUR),
  ) =>
    resolveReview(
      payment,
      id,
      {
        verdict: { outcome, evidence: "seen", gatewayReference: more.gatewayReference ?? null },
        seen: more.seen ?? absent,
      },
      step(now),
    );

  test("an authorization that a person has found is held from then on under its name", () => {
    const reviewed = inReview(authorizingPayment());
    const found = decide(reviewed, openOperation(reviewed), "moved", { gatewayReference: "auth_9" });
    expect(found.facts).toMatchObject({
      status: "authorized",
      authorizationReference: "auth_9",
      authorizedAt: after(HOUR),
    });
    const authorized = authorizedPayment();
    const doubted = settle(authorized, of(authorized, "authorize").id, declines(), step());
    const kept = decide(doubted, openOperation(doubted), "moved");
    expect(kept.facts).toMatchObject({
      authorizationReference: authorized.facts.authorizationReference,
      authorizedAt: authorized.facts.authorizedAt,
    });
    const capturing = inReview(capturingPayment());
    expect(decide(capturing, openOperation(capturing), "moved").facts.authorizedAt).toEqual(
      capturing.facts.authorizedAt,
    );
  });

  test("what failed and is believed to have moved after all has failed no more", () => {
    const failed = settled(capturingPayment(), declines());
    const doubted = settle(failed, of(failed, "capture").id, succeeds("cap_1"), step());
    expect(of(decide(doubted, of(doubted, "capture"), "moved"), "capture")).toMatchObject({
      status: "succeeded",
      failureCode: null,
      failureReason: null,
      conflicted: false,
    });
  });

  test("what was found of another amount names a capture, and nothing else", () => {
    const seen = { outcome: "mismatch", evidence: "e", reference: "ch_7" } as const;
    const capturing = inReview(capturingPayment());
    expect(
      of(decide(capturing, openOperation(capturing), "moved", { seen }), "capture").gatewayReference,
    ).toBe("ch_7");
    const refunding = inReview(begunBy(decideRefund(capturedPayment(), begin(), {}, step())).payment);
    expect(
      of(decide(refunding, openOperation(refunding), "moved", { seen }), "refund").gatewayReference,
    ).toBeNull();
    const named = { outcome: "succeeded", reference: "ch_8" } as const;
    expect(
      of(
        decide(capturing, openOperation(capturing), "moved", { gatewayReference: "other", seen: named }),
        "capture",
      ),
    ).toMatchObject({ status: "succeeded", gatewayReference: "other" });
  });

  test("still pending is asked about again in a day; where two answers contradict each other nobody is asked", () => {
    const reviewed = inReview(capturingPayment());
    const later = decide(reviewed, openOperation(reviewed), "pending");
    expect(openOperation(later)).toMatchObject({
      attempts: 1,
      askedAt: after(HOUR),
      dueAt: after(25 * HOUR),
    });
    const captured = capturedPayment();
    const doubted = settle(captured, of(captured, "capture").id, declines(), step());
    expect(openOperation(decide(doubted, openOperation(doubted), "pending"))).toMatchObject({
      attempts: 0,
      askedAt: after(HOUR),
      dueAt: null,
    });
  });

  test("a payment whose authorization did not happen is declined, or voided where it was let go", () => {
    const wanting = authorizingPayment();
    const voided = forged(wanting, {
      status: "voided",
      operations: [
        { ...of(wanting, "authorize"), status: "failed", failureCode: "payment_voided", conflicted: true },
        forgedOperation(wanting, { kind: "void" }),
      ],
    });
    expect(decide(voided, of(voided, "authorize"), "not_moved").facts.status).toBe("voided");
    expect(decide(voided, of(voided, "authorize"), "moved", { gatewayReference: "a" }).facts.status).toBe(
      "voided",
    );
    const reviewed = inReview(wanting);
    expect(decide(reviewed, openOperation(reviewed), "not_moved").facts.status).toBe("declined");
  });

  test("no verdict captures twice, or more than was authorized", () => {
    const captured = capturedPayment(authorizedPayment(), 600n);
    const second = forgedOperation(captured, { kind: "capture", status: "needs_review", amount: 400n });
    const both = forged(captured, { operations: [...captured.facts.operations, second] });
    expect(() => decide(both, second, "moved")).toThrow(
      expect.objectContaining({ code: "review_contradicts_payment" }),
    );
    const large = inReview(capturingPayment());
    const larger = withChanged(large, openOperation(large).id, { amount: 1_001n });
    expect(() => decide(larger, openOperation(larger), "moved")).toThrow(
      expect.objectContaining({ code: "review_contradicts_payment" }),
    );
  });
});

describe("a picture, once more", () => {
  const blank: GatewayPicture = {
    authorization: "open",
    authorizedUntil: null,
    captured: null,
    cancellation: null,
    refunds: [],
    disputes: [],
  };
  const taken = (amount: bigint, operationId: string | null = null) => ({
    authorization: "captured" as const,
    captured: { reference: "ch_9", amount, operationId },
  });
  const look = (
    payment: Payment,
    picture: Partial<GatewayPicture>,
    overridden?: ReadonlySet<Operation["id"]>,
  ) => observePicture(payment, { ...blank, ...picture }, { ...step(), ...(overridden && { overridden }) });
  const voidingOf = (payment: Payment) => begunBy(decideVoid(payment, begin(), step())).payment;

  test("a picture that does not show what is open leaves it open, and doubts nobody else for it", () => {
    const capturing = capturingPayment();
    for (const authorization of ["open", "undecided"] as const)
      expect(look(capturing, { authorization })).toBe(capturing);
    const other = look(capturing, taken(1_000n, "another"));
    expect(other.facts.operations.map(({ conflicted }) => conflicted)).toEqual([false, false]);
  });

  test("a capture elsewhere is left alone where a person has decided that the release let the money go, and no other verdict is that", () => {
    const released = settled(expiredPayment(), succeeds());
    expect(look(released, taken(400n), new Set([of(released, "void").id]))).toBe(released);
    expect(amountCaptured(look(released, taken(400n)))).toBe(400n);
    const authorized = authorizedPayment();
    const overridden = new Set([of(authorized, "authorize").id]);
    expect(amountCaptured(look(authorized, taken(400n), overridden))).toBe(400n);
  });

  test("a capture elsewhere is not counted while two answers are about a release: the authorization is doubted", () => {
    const released = settled(expiredPayment(), succeeds());
    const doubted = observe(
      released,
      of(released, "void").id,
      { outcome: "mismatch", evidence: "e" },
      step(),
    );
    expect(openOperation(doubted)).toMatchObject({ kind: "void", conflicted: true });
    const next = look(doubted, taken(400n));
    expect([amountCaptured(next), of(next, "authorize").conflicted]).toEqual([0n, true]);
  });

  test("what cannot be is doubted of the authorization, and not of a capture or a void that had failed", () => {
    const failed = settled(capturingPayment(), declines());
    const next = look(failed, taken(1_001n));
    expect([of(next, "authorize").conflicted, of(next, "capture").conflicted]).toEqual([true, false]);
    const refused = settled(voidingOf(authorizedPayment()), declines());
    const voided = settled(voidingOf(refused), succeeds("v_2"));
    const doubted = look(voided, taken(400n)).facts.operations.filter(({ kind }) => kind === "void");
    expect(doubted.map(({ conflicted }) => conflicted)).toEqual([false, true]);
  });

  test("a refund elsewhere is one although the gateway names it as the capture", () => {
    const captured = capturedPayment();
    const refund = {
      reference: "cap_1",
      amount: 400n,
      operationId: null,
      state: "succeeded",
      reason: null,
    } as const;
    const next = look(captured, { ...taken(1_000n, of(captured, "capture").id), refunds: [refund] });
    expect(amountRefunded(next)).toBe(400n);
  });

  test("a capture that succeeds after two that failed is possible, and one of more than was authorized is not", () => {
    const twice = settled(capturingPayment(settled(capturingPayment(), declines())), declines());
    const third = capturingPayment(twice);
    const { id } = openOperation(third);
    expect(amountCaptured(look(third, taken(1_000n, id)))).toBe(1_000n);
    const larger = withChanged(third, id, { amount: 1_001n });
    expect(openOperation(look(larger, taken(1_001n, id)))).toMatchObject({ id, status: "needs_review" });
  });

  test("refunds keep the capture alone from being decided about, as long as it counts", () => {
    const payment = refunded(capturedPayment(), 400n);
    const ofAuthorize = settle(payment, of(payment, "authorize").id, declines(), step());
    expect(openOperation(ofAuthorize).kind).toBe("authorize");
    const ofCapture = settle(payment, of(payment, "capture").id, declines(), step());
    expect(of(ofCapture, "capture")).toMatchObject({ status: "succeeded", conflicted: true });
    const failed = forgedOperation(payment, { status: "failed" });
    const both = forged(payment, { operations: [...payment.facts.operations, failed] });
    expect(openOperation(settle(both, failed.id, succeeds("cap_2"), step())).id).toBe(failed.id);
  });

  test("a verdict counts what has succeeded, and knows what was never authorized", () => {
    const moved = (payment: Payment, { id }: Operation) => {
      const verdict = { outcome: "moved", evidence: "seen", gatewayReference: null } as const;
      return resolveReview(payment, id, { verdict, seen: { outcome: "absent" } }, step()).facts;
    };
    const second = inReview(capturingPayment(settled(capturingPayment(), declines())));
    expect(moved(second, openOperation(second)).status).toBe("captured");
    const failed = settled(capturingPayment(), declines());
    const voided = settled(voidingOf(failed), succeeds());
    const doubted = settle(voided, of(voided, "capture").id, succeeds("cap_1"), step());
    expect(moved(doubted, openOperation(doubted)).status).toBe("captured");
    const wanting = authorizingPayment({ returnUrl: "https://shop.example" });
    const action = { outcome: "requires_action", reference: "a", url: "https://bank.example" } as const;
    const waiting = applyVerdict(wanting, openOperation(wanting).id, action, step());
    const voiding = inReview(voidingOf(waiting));
    expect(moved(voiding, openOperation(voiding))).toMatchObject({ status: "voided", authorizedAt: null });
  });
});
