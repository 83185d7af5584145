import {
  AUTHENTICATION_REQUIRED,
  isCustomerLate,
  sendCustomer,
  stillWaiting,
  withoutLateCustomer,
} from "../../../src/domain/payment/customer/customer-action";
import { decideRefund, decideVoid } from "../../../src/domain/payment/decide-movement";
import type { GatewayVerdict } from "../../../src/domain/payment/facts";
import type { Operation } from "../../../src/domain/payment/operation";
import type { Payment } from "../../../src/domain/payment/payment";
import type { GatewayPicture, SeenDispute } from "../../../src/domain/payment/picture/gateway-picture";
import { observe } from "../../../src/domain/payment/picture/observation";
import { observePicture } from "../../../src/domain/payment/picture/observe-picture";
import { statementOf } from "../../../src/domain/payment/picture/statement-of";
import { applyVerdict } from "../../../src/domain/payment/settlement";
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
  inReview,
  NOON,
  openOperation,
  settled,
  step,
  succeeds,
  WEEK_MS,
} from "../../support/worlds/payments";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const iso = (ms: number) => after(ms).toISOString();

const blank: GatewayPicture = {
  authorization: "open",
  authorizedUntil: null,
  captured: null,
  cancellation: null,
  refunds: [],
  disputes: [],
};

function news(before: Payment, next: Payment) {
  return next.newEvents.slice(before.newEvents.length).map(({ type, data }) => [type, data]);
}

function last(payment: Payment): Operation {
  return payment.facts.operations.at(-1)!;
}

/** What a picture leads to, and that the same picture again leads to nothing. */
function seen(before: Payment, picture: Partial<GatewayPicture>, now = before.facts.updatedAt) {
  const next = observePicture(before, { ...blank, ...picture }, step(now));
  expect(observePicture(next, { ...blank, ...picture }, step(now))).toBe(next);
  return { next, told: news(before, next) };
}

const elsewhere = (amount: bigint, reference = "ch_9") => ({ reference, amount, operationId: null });
const refundElsewhere = (amount: bigint, reference = "re_9") =>
  ({ ...elsewhere(amount, reference), state: "succeeded", reason: null }) as const;

describe("what others did at the gateway is told as theirs", () => {
  test("a capture made elsewhere is told with its amount, for the operation and for the payment", () => {
    const { next, told } = seen(authorizedPayment(), {
      authorization: "captured",
      captured: elsewhere(600n),
    });
    expect(told).toEqual([
      ["capture.succeeded", { operationId: last(next).id, amount: 600, origin: "gateway" }],
      ["payment.captured", { amount: 600 }],
    ]);
    expect(last(next)).toMatchObject({ gatewayReference: "ch_9", idempotencyKey: null, fingerprint: "" });
    expect(next.facts.status).toBe("captured");
  });

  test("a cancellation made elsewhere is a void of all that was authorized, under the name that the gateway gives it", () => {
    const cancellation = { reference: "cancel_1", by: "others" } as const;
    const { next, told } = seen(authorizedPayment(), { authorization: "cancelled", cancellation });
    expect(told).toEqual([
      ["void.succeeded", { operationId: last(next).id, amount: 1000, origin: "gateway" }],
      ["payment.voided", {}],
    ]);
    expect(last(next).gatewayReference).toBe("cancel_1");
  });

  test("a cancellation without a name has the authorization's", () => {
    const payment = authorizedPayment();
    const { next } = seen(payment, { authorization: "cancelled" });
    expect(last(next).gatewayReference).toBe(payment.facts.authorizationReference);
  });

  test("a cancellation that names a void of ours that was refused contradicts that refusal", () => {
    const refused = settled(begunBy(decideVoid(authorizedPayment(), begin(), step())).payment, declines());
    const { id } = last(refused);
    const cancellation = { reference: "cancel_1", by: { operationId: id } };
    const { told } = seen(refused, { authorization: "cancelled", cancellation });
    expect(told[0]).toEqual([
      "operation.evidence_conflict",
      { operationId: id, recorded: "failed", answer: "succeeded" },
    ]);
  });

  test("a refund made elsewhere is a movement of a payment that stays captured", () => {
    const { next, told } = seen(capturedPayment(), {
      authorization: "captured",
      captured: { reference: "cap_1", amount: 1000n, operationId: null },
      refunds: [refundElsewhere(400n)],
    });
    expect(told).toEqual([
      ["refund.succeeded", { operationId: last(next).id, amount: 400, origin: "gateway" }],
    ]);
    expect(next.facts.status).toBe("captured");
  });

  test.each([
    ["all that is left", 1000n, "refund.succeeded"],
    ["more than is left", 1001n, "operation.evidence_conflict"],
    ["nothing", 0n, "operation.evidence_conflict"],
  ])("a refund made elsewhere of %s has moved money only if there was so much left", (_, amount, type) => {
    const { told } = seen(capturedPayment(), {
      captured: { reference: "cap_1", amount: 1000n, operationId: null },
      refunds: [refundElsewhere(amount)],
    });
    expect(told[0]?.[0]).toBe(type);
  });

  test("a refund of what was never captured is a contradiction, which tells how much was refunded and how much was left", () => {
    const payment = authorizedPayment();
    const [authorize] = payment.facts.operations;
    const { told } = seen(payment, { refunds: [refundElsewhere(400n)] });
    expect(told[0]).toEqual([
      "operation.evidence_conflict",
      {
        operationId: authorize!.id,
        recorded: "succeeded",
        answer: "mismatch",
        evidence: "re_9: 400 minor units were refunded elsewhere, and 0 are left",
      },
    ]);
  });

  test.each(["pending", "failed"] as const)(
    "a refund made elsewhere that is %s has moved nothing",
    (state) => {
      const captured = { reference: "cap_1", amount: 1000n, operationId: null };
      const refunds = [{ ...refundElsewhere(400n), state }];
      expect(seen(capturedPayment(), { captured, refunds }).told).toEqual([]);
    },
  );

  test("an authorization that lapsed at the gateway is an expired payment that owes no release", () => {
    const { next, told } = seen(authorizedPayment(), { authorization: "lapsed" });
    expect(told).toEqual([["payment.expired", { reason: "the gateway has let the money go" }]]);
    expect(next.facts.status).toBe("expired");
    expect(next.facts.operations).toHaveLength(1);
  });

  test.each([
    ["earlier", MINUTE, 1],
    ["the same", WEEK_MS, 0],
    ["later", 2 * WEEK_MS, 0],
  ])(
    "an end of the authorization at the gateway (%s than or as promised) is taken over if it is earlier",
    (_, ms, entries) => {
      const { next, told } = seen(authorizedPayment(), { authorizedUntil: after(ms) });
      expect(told).toHaveLength(entries);
      expect(next.facts.expiresAt).toEqual(after(Math.min(ms, WEEK_MS)));
    },
  );

  test("a capture of more than was authorized, or of nothing, is no movement but a contradiction", () => {
    for (const amount of [1001n, 0n]) {
      const { told } = seen(authorizedPayment(), { captured: elsewhere(amount) });
      expect(told[0]).toEqual([
        "operation.evidence_conflict",
        expect.objectContaining({
          answer: "mismatch",
          evidence: `ch_9: ${amount} minor units were captured under no operation of ours`,
        }),
      ]);
    }
  });

  test("a capture made elsewhere may be of all that was authorized", () => {
    expect(seen(authorizedPayment(), { captured: elsewhere(1000n) }).next.facts.status).toBe("captured");
  });

  test("money that was taken was not let go, so a release ends in vain and the capture is told as made elsewhere", () => {
    const { next, told } = seen(expiredPayment(), { captured: elsewhere(1000n) });
    expect(told.map(([type]) => type)).toEqual(["void.failed", "capture.succeeded", "payment.captured"]);
    expect(told[0]?.[1]).toMatchObject({
      release: true,
      reason: "ch_9: 1000 minor units were captured under no operation of ours",
    });
    expect(next.facts.status).toBe("captured");
  });

  test("a void of ours is refused by what others have captured", () => {
    const { payment, operationId } = begunBy(decideVoid(authorizedPayment(), begin(), step()));
    const { told } = seen(payment, { captured: elsewhere(1000n) });
    expect(told[0]).toEqual([
      "void.failed",
      {
        operationId,
        failureCode: "void_declined",
        reason: "ch_9: 1000 minor units were captured under no operation of ours",
      },
    ]);
  });

  test("what the gateway takes back of a refund of ours is told with its words, and what was recorded", () => {
    const refund = begunBy(decideRefund(capturedPayment(), begin(), { amount: 400n }, step()));
    const before = settled(refund.payment, succeeds("re_1"));
    const next = observe(before, refund.operationId, declines("account closed"), step());
    expect(news(before, next)).toEqual([
      [
        "refund.failed",
        {
          operationId: refund.operationId,
          failureCode: "refund_declined",
          reason: "account closed",
          recorded: "succeeded",
        },
      ],
    ]);
    expect(last(next)).toMatchObject({ status: "failed", correctedSequence: next.facts.eventCount });
  });
});

describe("a dispute is told when it is opened, changes, and ends", () => {
  const dispute: SeenDispute = {
    id: "du_1",
    status: "needs_response",
    amount: 1000n,
    reason: "fraudulent",
    dueBy: after(HOUR),
  };
  const told = { disputeId: "du_1", amount: 1000, reason: "fraudulent", dueBy: iso(HOUR) };
  const opened = seen(authorizedPayment(), { disputes: [dispute] });

  test("a dispute that is opened is told with all that the gateway says of it", () => {
    expect(opened.told).toEqual([["dispute.opened", { ...told, status: "needs_response" }]]);
    expect(opened.next.facts.disputes).toEqual([dispute]);
  });

  test.each([
    ["status", { status: "under_review" }, "dispute.updated"],
    ["amount", { amount: 900n }, "dispute.updated"],
    ["reason", { reason: "duplicate" }, "dispute.updated"],
    ["time for evidence", { dueBy: null }, "dispute.updated"],
    ["end, won", { status: "won" }, "dispute.closed"],
    ["end, lost", { status: "lost" }, "dispute.closed"],
    ["end, without a decision", { status: "closed" }, "dispute.closed"],
  ] as const)("a dispute whose %s is new is told once more", (_, change, type) => {
    const changed = { ...dispute, ...change } as SeenDispute;
    const { next, told: entries } = seen(opened.next, { disputes: [changed] });
    expect(entries.map(([name]) => name)).toEqual([type]);
    expect(next.facts.disputes).toEqual([changed]);
  });

  test("a dispute that is over when it is first heard of was opened, too; and what is over is only changed", () => {
    const { next, told: entries } = seen(authorizedPayment(), { disputes: [{ ...dispute, status: "lost" }] });
    expect(entries.map(([name]) => name)).toEqual(["dispute.opened", "dispute.closed"]);
    const again = seen(next, { disputes: [{ ...dispute, status: "won" }] });
    expect(again.told.map(([name]) => name)).toEqual(["dispute.updated"]);
  });

  test("a second dispute stands beside the first, and one that is shown no more stays as it was", () => {
    const other = { ...dispute, id: "du_2", dueBy: null };
    const { next, told: entries } = seen(opened.next, { disputes: [other] });
    expect(entries).toEqual([
      ["dispute.opened", { ...told, disputeId: "du_2", status: "needs_response", dueBy: null }],
    ]);
    expect(next.facts.disputes).toEqual([dispute, other]);
    const changed = seen(next, { disputes: [{ ...other, status: "won" }] }).next;
    expect(changed.facts.disputes).toEqual([dispute, { ...other, status: "won" }]);
  });
});

describe("what a picture says of one operation", () => {
  const capturing = openOperation(capturingPayment(authorizedPayment(), 600n));
  const voiding = openOperation(begunBy(decideVoid(authorizedPayment(), begin(), step())).payment);
  const refunding = openOperation(
    begunBy(decideRefund(capturedPayment(), begin(), { amount: 400n }, step())).payment,
  );
  const of = (operation: Operation, picture: Partial<GatewayPicture>) =>
    statementOf({ ...blank, ...picture }, operation);

  test("a picture says nothing of an authorization, for it does not say who made it", () => {
    const authorize = openOperation(authorizingPayment());
    expect(of(authorize, {})).toEqual({
      outcome: "unknown",
      reason: "a picture shows what became of an authorization, not who made it",
    });
  });

  test.each([
    ["cancelled", { outcome: "authorization_gone", reason: "cancelled", cancelled: true }],
    ["lapsed", { outcome: "authorization_gone", reason: "lapsed" }],
    ["undecided", { outcome: "pending" }],
    ["open", { outcome: "absent" }],
    ["captured", { outcome: "absent" }],
  ] as const)(
    "a picture without a capture says what became of it by the authorization, where that is %s",
    (authorization, statement) => {
      expect(of(capturing, { authorization })).toEqual(statement);
    },
  );

  test("a picture of a capture says that it is ours, that it is of another amount, or that it is another's", () => {
    const own = { reference: "ch_1", amount: 600n, operationId: capturing.id };
    expect(of(capturing, { captured: own })).toEqual({ outcome: "succeeded", reference: "ch_1" });
    expect(of(capturing, { captured: { ...own, amount: 500n } })).toEqual({
      outcome: "mismatch",
      evidence: "ch_1: the amount is 500, not 600",
      reference: "ch_1",
      otherAmount: true,
    });
    const theirs = { outcome: "mismatch", reference: "ch_1", captured: true };
    expect(of(capturing, { captured: { ...own, operationId: "another" } })).toEqual({
      ...theirs,
      evidence: "ch_1: 600 minor units were captured under operation another",
    });
    expect(of(capturing, { captured: { ...own, operationId: null, amount: 1n } })).toEqual({
      ...theirs,
      evidence: "ch_1: 1 minor units were captured under no operation of ours",
      otherAmount: true,
    });
  });

  test.each([
    ["lapsed", { outcome: "authorization_gone", reason: "lapsed" }],
    ["undecided", { outcome: "pending" }],
    ["open", { outcome: "absent" }],
    ["captured", { outcome: "absent" }],
    ["cancelled", { outcome: "succeeded", reference: null }],
  ] as const)(
    "a picture says what became of a void by the authorization, where that is %s",
    (authorization, statement) => {
      expect(of(voiding, { authorization })).toEqual(statement);
    },
  );

  test("a picture that names who let the money go says by that what became of a void", () => {
    const by = (who: NonNullable<GatewayPicture["cancellation"]>["by"]) =>
      of(voiding, { authorization: "cancelled", cancellation: { reference: "c_1", by: who } });
    const ours = { outcome: "succeeded", reference: "c_1" };
    const others = { outcome: "authorization_gone", reason: "cancelled by others" };
    expect([by("unnamed"), by({ operationId: voiding.id })]).toEqual([ours, ours]);
    expect([by("others"), by({ operationId: "another" })]).toEqual([others, others]);
  });

  test("a picture says of a refund what became of the one that is its own", () => {
    const shown = (change: object) =>
      of(refunding, { refunds: [{ ...refundElsewhere(400n), operationId: refunding.id, ...change }] });
    expect(shown({ operationId: null })).toEqual({ outcome: "absent" });
    expect(shown({})).toEqual({ outcome: "succeeded", reference: "re_9" });
    expect(shown({ state: "pending" })).toEqual({ outcome: "pending" });
    expect(shown({ state: "failed" })).toEqual({ outcome: "declined", reason: "failed" });
    expect(shown({ state: "failed", reason: "closed" })).toEqual({ outcome: "declined", reason: "closed" });
    expect(shown({ amount: 399n })).toMatchObject({ evidence: "re_9: the amount is 399, not 400" });
  });
});

describe("the history tells of what the gateway decides later", () => {
  const said = (before: Payment, verdict: GatewayVerdict, ms: number) =>
    applyVerdict(before, openOperation(before).id, verdict, step(after(ms)));

  test("an order that the gateway has taken is told with its times, again for each due question, and at the end of its time", () => {
    const before = capturingPayment();
    const { id } = openOperation(before);
    const decidesBy = after(HOUR);
    const pending = said(before, { outcome: "pending", reference: "cap_1", decidesBy }, 0);
    const times = { operationId: id, decidesBy: iso(HOUR) };
    expect(news(before, pending)).toEqual([["capture.pending", { ...times, dueAt: iso(5 * MINUTE) }]]);
    const asked = said(pending, { outcome: "pending" }, 5 * MINUTE);
    expect(news(pending, asked)).toEqual([
      [
        "capture.pending",
        // The last question comes when the time is over by the gateway's clock, too.
        { ...times, dueAt: iso(65 * MINUTE), reason: "it is still pending there", again: true },
      ],
    ]);
    expect(last(asked)).toMatchObject({ attempts: 1, gatewayReference: "cap_1" });
    expect(last(said(asked, { outcome: "pending" }, 65 * MINUTE - 1)).status).toBe("pending");
    const over = said(asked, { outcome: "pending" }, 65 * MINUTE);
    expect(news(asked, over)).toEqual([
      [
        "operation.needs_review",
        {
          operationId: id,
          kind: "capture",
          reason: `the gateway has not decided by ${iso(HOUR)}: it is still pending there`,
        },
      ],
    ]);
    expect(last(over).dueAt).toEqual(after(70 * MINUTE));
  });

  test("an order that is forgotten once may come back, and one that is forgotten twice is a person's", () => {
    const pending = said(capturingPayment(), { outcome: "pending" }, 0);
    const reason = "the gateway has answered pending, and now it does not know the operation";
    const once = said(pending, { outcome: "absent" }, 5 * MINUTE);
    expect(news(pending, once)[0]?.[1]).toMatchObject({ reason, again: true });
    expect(last(said(once, { outcome: "absent" }, 6 * MINUTE)).status).toBe("pending");
    const twice = said(once, { outcome: "absent" }, 65 * MINUTE);
    expect(news(once, twice)).toEqual([
      ["operation.needs_review", { operationId: last(once).id, kind: "capture", reason }],
    ]);
    expect(last(twice).dueAt).toEqual(after(70 * MINUTE));
  });
});

describe("the history tells of a customer who has to act", () => {
  const action = { outcome: "requires_action", reference: "auth_1", url: "https://bank.example/1" } as const;
  const wanting = authorizingPayment({ returnUrl: "https://shop.example" });
  const waiting = sendCustomer(wanting, openOperation(wanting).id, action, step());
  const { id } = openOperation(wanting);

  test("a wait for the customer is told with its end; the address is the payment's, as long as it is waited for", () => {
    expect(news(wanting, waiting)).toEqual([
      ["authorize.requires_action", { operationId: id, until: iso(HOUR) }],
    ]);
    expect(waiting.facts).toMatchObject({
      authorizationReference: "auth_1",
      actionUrl: "https://bank.example/1",
    });
    expect(openOperation(waiting)).toMatchObject({
      status: "requires_action",
      gatewayReference: "auth_1",
      attempts: 0,
      askedAt: NOON,
      decidesBy: after(HOUR),
      dueAt: after(MINUTE / 2),
    });
    expect(settled(waiting, succeeds("auth_1")).facts.actionUrl).toBeNull();
  });

  test("a customer is waited for until the earliest end that there is", () => {
    const until = after(MINUTE);
    const short = sendCustomer(wanting, id, { ...action, until }, step());
    expect(openOperation(short).decidesBy).toEqual(until);
    const later = sendCustomer(wanting, id, { ...action, until: after(2 * HOUR) }, step());
    expect(openOperation(later).decidesBy).toEqual(after(HOUR));
    expect([
      isCustomerLate(openOperation(short), after(MINUTE - 1)),
      isCustomerLate(openOperation(short), until),
    ]).toEqual([false, true]);
    expect(isCustomerLate(openOperation(wanting), after(WEEK_MS))).toBe(false);
  });

  test("a question about a customer between due ones changes nothing but the time, and due ones go on in the schedule", () => {
    const early = stillWaiting(waiting, id, step(after(1_000)));
    expect(news(waiting, early)).toEqual([]);
    expect(openOperation(early)).toMatchObject({
      attempts: 0,
      dueAt: after(MINUTE / 2),
      askedAt: after(1_000),
    });
    const due = stillWaiting(early, id, step(after(MINUTE / 2)));
    expect(openOperation(due)).toMatchObject({ attempts: 1, dueAt: after(1.5 * MINUTE) });
    const end = stillWaiting(due, id, step(after(HOUR - 1_000)));
    expect(openOperation(end).dueAt).toEqual(after(HOUR));
    const moved = sendCustomer(due, id, { ...action, url: "https://bank.example/2" }, step(after(MINUTE)));
    expect(moved.facts.actionUrl).toBe("https://bank.example/2");
    expect(news(due, moved)).toEqual([]);
  });

  test("a customer who is late ends the payment, with a release for what they still do", () => {
    const late = withoutLateCustomer(waiting, id, step(after(HOUR)));
    const reason = "the customer has not acted in time";
    expect(news(waiting, late)).toEqual([
      ["authorize.failed", { operationId: id, failureCode: "payment_expired", reason }],
      ["payment.expired", { expiresAt: iso(HOUR) }],
      ["void.started", { operationId: last(late).id, release: true }],
    ]);
    expect(late.facts).toMatchObject({ status: "expired", expiresAt: after(HOUR), actionUrl: null });
  });

  test("a caller who does not wait for the customer any more has the authorization fail by that, and a void follow", () => {
    const next = begunBy(decideVoid(waiting, begin(), step())).payment;
    expect(news(waiting, next)).toEqual([
      [
        "authorize.failed",
        {
          operationId: id,
          failureCode: "payment_voided",
          reason: "voided before the customer had acted",
        },
      ],
      ["void.started", { operationId: last(next).id, amount: 1000 }],
    ]);
  });

  test("a caller with no way to send the customer anywhere is refused, and what was begun is let go", () => {
    const without = authorizingPayment();
    const refused = sendCustomer(without, openOperation(without).id, action, step());
    expect(news(without, refused)).toEqual([
      [
        "authorize.failed",
        {
          operationId: openOperation(without).id,
          failureCode: "authorization_declined",
          reason: AUTHENTICATION_REQUIRED,
        },
      ],
      ["payment.declined", { reason: AUTHENTICATION_REQUIRED }],
      ["void.started", { operationId: last(refused).id, release: true }],
    ]);
    expect(refused.facts).toMatchObject({ status: "declined", authorizationReference: "auth_1" });
  });

  test("a silent gateway, or one that knows nothing, is no news of a customer who is at the page", () => {
    for (const verdict of [
      { outcome: "unknown", reason: "?" },
      { outcome: "pending" },
      { outcome: "absent" },
    ] as const)
      expect(applyVerdict(waiting, id, verdict, step())).toBe(waiting);
  });
});

test("what is in review is told with what the gateway calls it only where it calls it something", () => {
  expect(inReview(capturingPayment()).newEvents.at(-1)?.data).not.toHaveProperty("gatewayReference");
});
