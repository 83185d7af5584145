import type { PaymentEventContent } from "../../../src/application/public-events/public-event";
import { publicEventTypes, publicEventWire } from "../../../src/application/public-events/public-event";
import { publications } from "../../../src/application/public-events/which-events-are-public";
import { publicEventsOf } from "../../../src/application/public-events/public-events-of";
import { decideRefund, decideVoid } from "../../../src/domain/payment/decide-movement";
import { observe } from "../../../src/domain/payment/picture/observation";
import type { Payment } from "../../../src/domain/payment/payment";
import { restored } from "../../../src/domain/payment/restored";
import { resolveReview, stillInReview } from "../../../src/domain/payment/review";
import { applyVerdict } from "../../../src/domain/payment/settlement";
import { stillUnknown } from "../../../src/domain/payment/waiting";
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
  openOperation,
  settled,
  step,
  succeeds,
} from "../../support/worlds/payments";

/** As it is read again. */
const stored = ({ facts }: Payment): Payment => restored(facts);

function told(payment: Payment): readonly string[] {
  return publicEventsOf(payment).map(({ type }) => type);
}

function operationsOf(payment: Payment) {
  return publicEventsOf(payment).map(({ content }) => (content as PaymentEventContent).operation);
}

function voiding(payment = stored(authorizedPayment())): Payment {
  return stored(begunBy(decideVoid(payment, begin(), step())).payment);
}

function refunding(payment = stored(capturedPayment())): Payment {
  return stored(begunBy(decideRefund(payment, begin(), {}, step())).payment);
}

/** The gateway has taken what is open. */
function pending(payment: Payment, ms = 0): Payment {
  const now = after(ms, payment.facts.updatedAt);
  return applyVerdict(payment, openOperation(payment).id, { outcome: "pending" }, step(now));
}

describe("what the world is told", () => {
  it.each<[string, () => Payment, readonly string[]]>([
    ["an intent", () => capturingPayment(stored(authorizedPayment())), []],
    [
      "an authorization",
      () => settled(stored(authorizingPayment()), succeeds("auth_1")),
      ["payment.authorized"],
    ],
    ["a declined one", () => settled(stored(authorizingPayment()), declines()), ["payment.declined"]],
    ["a capture", () => settled(stored(capturingPayment()), succeeds("cap_1")), ["payment.captured"]],
    ["a declined capture", () => settled(stored(capturingPayment()), declines()), ["capture.failed"]],
    ["a void", () => settled(voiding(), succeeds()), ["payment.voided"]],
    ["a declined void", () => settled(voiding(), declines()), ["void.failed"]],
    ["an order that is decided later", () => pending(refunding()), ["operation.pending"]],
    ["the same asked about again", () => pending(stored(pending(refunding())), 5 * 60_000), []],
    ["a release that is decided later", () => pending(stored(expiredPayment())), []],
    ["a refund", () => settled(refunding(), succeeds("re_1")), ["payment.refunded"]],
    ["a declined refund", () => settled(refunding(), declines()), ["refund.failed"]],
    ["an expiry", () => expiredPayment(stored(authorizedPayment())), ["payment.expired"]],
    ["a release", () => settled(stored(expiredPayment()), succeeds()), []],
    ["a release that is refused", () => settled(stored(expiredPayment()), declines()), []],
    ["a review", () => inReview(stored(capturingPayment())), ["operation.needs_review"]],
  ])("a payment's history leads to the public events of %s", (_, make, expected) => {
    expect(told(make())).toEqual(expected);
  });

  it("that an outcome is not known, once, however often the gateway is asked in vain", () => {
    const capturing = stored(capturingPayment());
    const { id } = openOperation(capturing);
    const first = stillUnknown(capturing, id, "no answer", step());
    expect(told(first)).toEqual(["operation.unknown"]);
    expect(operationsOf(first)).toMatchObject([{ id, kind: "capture", status: "unknown" }]);
    const again = stillUnknown(stored(first), id, "no answer", step(after(60_000)));
    expect(again.newEvents.map(({ type }) => type)).toEqual(["capture.unknown"]);
    expect(told(again)).toEqual([]);
  });

  it("nothing of a release whose outcome is not known: no caller asked for it", () => {
    const expired = stored(expiredPayment());
    expect(told(stillUnknown(expired, openOperation(expired).id, "no answer", step()))).toEqual([]);
  });

  it("that a person has to look, once; and that the person has decided", () => {
    const reviewed = stored(inReview(stored(capturingPayment())));
    const { id } = openOperation(reviewed);
    const news = stillInReview(reviewed, id, "another reason", step());
    expect(news.newEvents.map(({ type }) => type)).toEqual(["operation.needs_review"]);
    expect(told(news)).toEqual([]);
    const verdict = { outcome: "moved", evidence: "statement", gatewayReference: null } as const;
    const decided = resolveReview(reviewed, id, { verdict, seen: { outcome: "absent" } }, step());
    expect(told(decided)).toEqual(["operation.resolved"]);
    expect(operationsOf(decided)).toMatchObject([{ id, kind: "capture", status: "succeeded" }]);
    const pending = { ...verdict, outcome: "pending" } as const;
    expect(
      told(resolveReview(reviewed, id, { verdict: pending, seen: { outcome: "absent" } }, step())),
    ).toEqual([]);
  });

  it("that the gateway has answered what was in review: by the movement's own event, and that it is over", () => {
    const reviewed = stored(inReview(stored(capturingPayment())));
    expect(told(settled(reviewed, succeeds("cap_1")))).toEqual(["payment.captured", "operation.resolved"]);
  });

  it("that an answer contradicts the recorded one, once", () => {
    const refunded = stored(settled(refunding(), succeeds("re_1")));
    const capture = refunded.facts.operations.find(({ kind }) => kind === "capture")!;
    const doubted = observe(refunded, capture.id, { outcome: "declined", reason: "no" }, step());
    expect(told(doubted)).toEqual(["operation.needs_review"]);
    const captured = stored(capturedPayment());
    const only = captured.facts.operations.find(({ kind }) => kind === "capture")!;
    expect(told(observe(captured, only.id, { outcome: "declined", reason: "no" }, step()))).toEqual([
      "operation.needs_review",
    ]);
  });

  it("that a refund failed after it had succeeded", () => {
    const refunded = stored(settled(refunding(), succeeds("re_1")));
    const refund = refunded.facts.operations.find(({ kind }) => kind === "refund")!;
    const corrected = observe(refunded, refund.id, { outcome: "declined", reason: "closed account" }, step());
    expect(told(corrected)).toEqual(["refund.failed"]);
    expect(operationsOf(corrected)).toMatchObject([{ id: refund.id, kind: "refund", status: "failed" }]);
  });

  it("with the payment as the whole step has left it", () => {
    const gone = settled(stored(capturingPayment()), { outcome: "authorization_gone", reason: "gone" });
    expect(told(gone)).toEqual(["capture.failed", "payment.expired"]);
    for (const { content } of publicEventsOf(gone))
      expect((content as PaymentEventContent).payment.status).toBe("expired");
    expect(operationsOf(gone)).toMatchObject([{ kind: "capture", failureCode: "payment_expired" }, null]);
  });

  it("every type but those of endpoints comes from some line of a history", () => {
    const reachable = new Set(Object.values(publications).map((publication) => publication?.type));
    expect(publicEventTypes.filter((type) => !reachable.has(type))).toEqual(["webhook_endpoint.disabled"]);
  });

  it("in one shape: id, type, timestamp, data with the count within the payment", () => {
    const [event] = publicEventsOf(authorizedPayment());
    expect(publicEventWire({ ...event!, sequence: 1 })).toEqual({
      id: event!.id,
      type: "payment.authorized",
      timestamp: "2026-03-04T12:00:00.000Z",
      data: { ...event!.content, sequence: 1 },
    });
    const others = { ...event!, paymentId: null, sequence: null, content: { endpoint: "x" } };
    expect(publicEventWire(others).data).toEqual({ endpoint: "x" });
  });
});
