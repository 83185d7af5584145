import { decideRefund, decideVoid } from "../../../src/domain/payment/decide-movement";
import { PaymentError } from "../../../src/domain/payment/errors";
import { endMetBy, endOf, expire } from "../../../src/domain/payment/expiry";
import type { GatewayStatement, ReviewVerdict } from "../../../src/domain/payment/facts";
import { importPayment } from "../../../src/domain/payment/opening";
import type { Operation } from "../../../src/domain/payment/operation";
import { amountRefunded, asItWasAfter, type Payment } from "../../../src/domain/payment/payment";
import type { GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";
import { observePicture } from "../../../src/domain/payment/picture/observe-picture";
import { statementOf } from "../../../src/domain/payment/picture/statement-of";
import { resolveReview } from "../../../src/domain/payment/review";
import { settle } from "../../../src/domain/payment/settlement";
import { notSent } from "../../../src/domain/payment/waiting";
import {
  after,
  authorizedPayment,
  begin,
  begunBy,
  capturedPayment,
  capturingPayment,
  declines,
  expiredPayment,
  forged,
  inReview,
  NOON,
  openOperation,
  settled,
  step,
  succeeds,
  WEEK_MS,
} from "../../support/worlds/payments";

const HOUR = 60 * 60_000;
const gone = { outcome: "authorization_gone", reason: "lapsed there" } as const;

function operation(payment: Payment, wanted: Operation["kind"]): Operation {
  return payment.facts.operations.find(({ kind }) => kind === wanted)!;
}

function refunded(payment: Payment, amount: bigint): Payment {
  const begun = begunBy(decideRefund(payment, begin(), { amount }, step()));
  return settle(begun.payment, begun.operationId, succeeds("re_1"), step());
}

describe("the end of an authorization", () => {
  test("the end of an authorization that nobody has ended is the one that was promised", () => {
    expect(endOf(authorizedPayment())).toEqual(after(WEEK_MS));
    expect(endOf(capturedPayment())).toEqual(after(WEEK_MS));
  });

  test("the end of an authorization that lapsed is the one that was promised, however late that was noticed", () => {
    expect(endOf(expire(authorizedPayment(), step(after(WEEK_MS + HOUR))))).toEqual(after(WEEK_MS));
  });

  test("the end of an authorization that the gateway had lost is when that was found out, whatever happens later", () => {
    const lost = settled(capturingPayment(), gone, after(HOUR));
    const released = settled(lost, succeeds(), after(2 * HOUR));
    expect(released.facts.status).toBe("expired");
    expect(endOf(released)).toEqual(after(HOUR));
    expect(endMetBy(released, operation(released, "capture"))).toEqual(after(HOUR));
    expect(endMetBy(released, { ...operation(released, "capture"), settledAt: null })).toEqual(
      after(WEEK_MS),
    );
  });
});

test("an imported authorization is told with the gateway's name for it and its end, and was sent by nobody", () => {
  const { facts } = authorizedPayment();
  const { payment, operationId } = importPayment(facts, "auth_elsewhere", begin(), step());
  expect(payment.newEvents.map(({ type, data }) => [type, data])).toEqual([
    [
      "payment.authorized",
      { operationId, imported: "auth_elsewhere", expiresAt: after(WEEK_MS).toISOString() },
    ],
  ]);
  expect(payment.facts).toMatchObject({
    status: "authorized",
    authorizationReference: "auth_elsewhere",
    authorizedAt: NOON,
  });
  expect(payment.facts.operations).toMatchObject([
    { status: "succeeded", amount: 1000n, firstSentAt: null, settledSequence: 1 },
  ]);
});

test("what was answered when a capture succeeded knows nothing of the refunds that came after it", () => {
  const payment = refunded(refunded(capturedPayment(), 300n), 200n);
  const [first, second] = payment.facts.operations.filter(({ kind }) => kind === "refund");
  const then = (one: Operation) => amountRefunded(asItWasAfter(payment, one));
  expect([then(operation(payment, "capture")), then(first!), then(second!)]).toEqual([0n, 300n, 500n]);
});

test("a success ended with the event that told of it, and a person who confirms it does not end it again", () => {
  const captured = capturedPayment();
  const capture = operation(captured, "capture");
  const told = captured.newEvents.find(({ type }) => type === "capture.succeeded");
  expect(capture).toMatchObject({ settledSequence: told!.sequence, settledAt: NOON });
  const doubted = settle(refunded(captured, 200n), capture.id, declines(), step());
  const verdict = { outcome: "moved", evidence: "seen", gatewayReference: null } as const;
  const seen = { outcome: "absent" } as const;
  const confirmed = resolveReview(doubted, capture.id, { verdict, seen }, step(after(HOUR)));
  expect(operation(confirmed, "capture")).toMatchObject({
    conflicted: false,
    settledSequence: told!.sequence,
    settledAt: NOON,
  });
});

test("a release stays owed whatever became of a send", () => {
  const payment = expiredPayment();
  const { id } = openOperation(payment);
  expect(() => notSent(payment, id, "refused", step())).toThrow(
    `release ${id} is owed, whatever became of a send`,
  );
});

describe("a verdict and what the gateway says at that moment", () => {
  const absent = { outcome: "absent" } as const;
  const decide = (
    payment: Payment,
    { id }: Operation,
    verdict: Partial<ReviewVerdict>,
    seen: GatewayStatement = absent,
  ): string => {
    const whole = { outcome: "moved", evidence: "seen", gatewayReference: null, ...verdict } as const;
    try {
      return resolveReview(payment, id, { verdict: whole, seen }, step()).facts.status;
    } catch (error) {
      if (error instanceof PaymentError) return error.code;
      throw error;
    }
  };
  const contradiction = "review_contradicts_gateway";

  test("that an authorization is gone contradicts a capture that moved, and a release that did not", () => {
    const capturing = inReview(capturingPayment());
    const open = openOperation(capturing);
    expect(decide(capturing, open, { outcome: "moved" }, gone)).toBe(contradiction);
    expect(decide(capturing, open, { outcome: "not_moved" }, gone)).toBe("authorized");
    const releasing = inReview(expiredPayment());
    const release = openOperation(releasing);
    expect(decide(releasing, release, { outcome: "moved" }, gone)).toBe("expired");
    expect(decide(releasing, release, { outcome: "not_moved" }, gone)).toBe(contradiction);
  });

  test.each<[GatewayStatement, ReviewVerdict["outcome"][]]>([
    [{ outcome: "succeeded", reference: "cap_1" }, ["moved"]],
    [{ outcome: "declined", reason: "no" }, ["not_moved"]],
    [{ outcome: "pending" }, ["pending"]],
    [{ outcome: "requires_action", reference: "a", url: "https://bank.example" }, ["pending"]],
    [{ outcome: "absent" }, ["moved", "not_moved", "pending"]],
    [{ outcome: "unknown", reason: "?" }, ["moved", "not_moved", "pending"]],
    [{ outcome: "mismatch", evidence: "e" }, ["moved", "not_moved", "pending"]],
    [{ outcome: "mismatch", evidence: "e", otherAmount: true }, ["not_moved", "pending"]],
    [{ outcome: "mismatch", evidence: "e", captured: true }, ["moved", "not_moved", "pending"]],
  ])("a gateway that says %j of a capture leaves room for %j", (seen, allowed) => {
    const payment = inReview(capturingPayment());
    const outcomes = ["moved", "not_moved", "pending"] as const;
    const taken = outcomes.filter(
      (outcome) => decide(payment, openOperation(payment), { outcome }, seen) !== contradiction,
    );
    expect(taken).toEqual(allowed);
  });

  test("money that was taken was not let go by a void, and another amount says nothing of it", () => {
    const payment = inReview(begunBy(decideVoid(authorizedPayment(), begin(), step())).payment);
    const open = openOperation(payment);
    const seen = { outcome: "mismatch", evidence: "e" } as const;
    expect(decide(payment, open, { outcome: "moved" }, { ...seen, captured: true })).toBe(contradiction);
    expect(decide(payment, open, { outcome: "moved" }, { ...seen, otherAmount: true })).toBe("voided");
    expect(decide(payment, open, { outcome: "not_moved" }, { ...seen, captured: true })).toBe("authorized");
  });

  test("whoever says why the gateway is wrong is believed, and the history has the reason", () => {
    const payment = inReview(capturingPayment());
    const { id } = openOperation(payment);
    const verdict = { outcome: "not_moved", evidence: "seen", gatewayReference: null } as const;
    const over = (overrideReason: string, seen: GatewayStatement) =>
      resolveReview(payment, id, { verdict: { ...verdict, overrideReason }, seen }, step()).newEvents.at(-1)
        ?.data;
    const told = { operationId: id, kind: "capture", outcome: "not_moved", evidence: "seen" };
    expect(over("their clerk", succeeds("cap_1"))).toEqual({
      ...told,
      overrideReason: "their clerk",
      resolvedBy: "operator",
    });
    expect(over("their clerk", absent)).toEqual({ ...told, resolvedBy: "operator" });
  });

  test("a refusal of the verdict tells what the gateway has just said", () => {
    const payment = inReview(capturingPayment());
    const { id } = openOperation(payment);
    const verdict = { outcome: "not_moved", evidence: "seen", gatewayReference: null } as const;
    const decideSo = () => resolveReview(payment, id, { verdict, seen: succeeds("cap_1") }, step());
    expect(decideSo).toThrow(
      expect.objectContaining({
        code: contradiction,
        facts: {
          operationId: id,
          outcome: "not_moved",
          gateway: { answer: "succeeded", reference: "cap_1" },
        },
      }),
    );
  });

  test("a captured payment cannot have been declined, nor its capture have happened twice", () => {
    const captured = capturedPayment();
    const authorize = operation(captured, "authorize");
    const doubted = settle(captured, authorize.id, declines(), step());
    expect(openOperation(doubted).id).toBe(authorize.id);
    expect(decide(doubted, authorize, { outcome: "not_moved" })).toBe("review_contradicts_payment");
    expect(decide(doubted, authorize, { outcome: "moved" })).toBe("captured");
  });

  test("a void cannot have let go what was captured, and a capture not what a void has let go", () => {
    const voided = settled(begunBy(decideVoid(authorizedPayment(), begin(), step())).payment, succeeds());
    const failed = settled(capturingPayment(), declines());
    const both = forged(failed, {
      status: "voided",
      operations: [
        ...failed.facts.operations.map((one) =>
          one.kind === "capture" ? { ...one, status: "succeeded" as const } : one,
        ),
        { ...operation(voided, "void"), status: "needs_review", dueAt: NOON },
      ],
    });
    expect(decide(both, openOperation(both), { outcome: "moved" })).toBe("review_contradicts_payment");
    expect(decide(both, openOperation(both), { outcome: "not_moved" })).toBe("captured");
  });

  test("a person's own reference for a reserved authorization has to be the gateway's, if that names one", () => {
    const payment = inReview(
      forged(authorizedPayment(), {
        status: "authorizing",
        authorizationReference: null,
        authorizedAt: null,
        operations: [
          {
            ...operation(authorizedPayment(), "authorize"),
            status: "unknown",
            gatewayReference: null,
            dueAt: NOON,
          },
        ],
      }),
    );
    const open = openOperation(payment);
    expect(decide(payment, open, { gatewayReference: "auth_2" }, succeeds("auth_1"))).toBe(contradiction);
    expect(decide(payment, open, { gatewayReference: "auth_1" }, succeeds("auth_1"))).toBe("authorized");
    expect(decide(payment, open, { gatewayReference: "auth_2" }, succeeds())).toBe("authorized");
    expect(decide(payment, open, {}, succeeds("auth_1"))).toBe("authorized");
    expect(decide(payment, open, {})).toBe("gateway_reference_required");
  });
});

describe("a picture and what is decided already", () => {
  const blank: GatewayPicture = {
    authorization: "captured",
    authorizedUntil: null,
    captured: { reference: "cap_1", amount: 1000n, operationId: null },
    cancellation: null,
    refunds: [],
    disputes: [],
  };
  const refund = { reference: "re_9", amount: 400n, operationId: null, reason: null } as const;

  test("a refund made elsewhere that the gateway takes back is told, and does not count any more", () => {
    const before = observePicture(
      capturedPayment(),
      { ...blank, refunds: [{ ...refund, state: "succeeded" }] },
      step(),
    );
    expect(amountRefunded(before)).toBe(400n);
    const next = observePicture(before, { ...blank, refunds: [{ ...refund, state: "failed" }] }, step());
    expect(next.newEvents.at(-1)).toMatchObject({ type: "refund.failed", data: { reason: "failed" } });
    expect(amountRefunded(next)).toBe(0n);
  });

  test("a refund of ours that has ended is not judged by a picture: its key is asked about", () => {
    const payment = refunded(capturedPayment(), 400n);
    const { id: operationId } = operation(payment, "refund");
    const refunds = [{ ...refund, operationId, state: "failed" }] as const;
    expect(observePicture(payment, { ...blank, refunds }, step())).toBe(payment);
  });

  test("a refusal of a void that a person has decided says nothing of a capture that others made", () => {
    const refused = settled(begunBy(decideVoid(authorizedPayment(), begin(), step())).payment, declines());
    const overridden = new Set([operation(refused, "void").id]);
    const next = observePicture(refused, blank, { ...step(), overridden });
    expect(next.facts.status).toBe("captured");
  });

  test("a capture is known by its reference, also where the gateway shows another amount for it", () => {
    const capture = operation(capturedPayment(), "capture");
    const statement = (amount: bigint, change: Partial<Operation> = {}) =>
      statementOf(
        { ...blank, captured: { reference: "cap_1", amount, operationId: null } },
        { ...capture, ...change },
      );
    expect(statement(500n)).toEqual({
      outcome: "mismatch",
      evidence: "cap_1: the amount is 500, not 1000",
      reference: "cap_1",
      otherAmount: true,
    });
    expect(statement(1000n, { status: "failed" })).toEqual(succeeds("cap_1"));
    expect(statement(500n, { status: "failed" })).toMatchObject({ captured: true });
    expect(statement(500n, { status: "failed", origin: "gateway" })).not.toHaveProperty("captured");
  });
});
