import type { OperationId } from "../../../src/domain/identifiers";
import type { SettledAnswer } from "../../../src/domain/payment/facts";
import { needsReview, notSent, stillUnknown } from "../../../src/domain/payment/waiting";
import { expire, isLapsed } from "../../../src/domain/payment/expiry";
import { decideCapture } from "../../../src/domain/payment/decide-movement";
import { settle } from "../../../src/domain/payment/settlement";
import fc from "fast-check";
import {
  isFinished,
  isOpen,
  isRelease,
  isReopenedByContradiction,
} from "../../../src/domain/payment/operation";
import {
  amountCapturable,
  amountRefunded,
  amountCaptured,
  operationOf,
  openOperationOf,
  type Payment,
} from "../../../src/domain/payment/payment";
import { paymentTransitions } from "../../../src/domain/payment/transitions";
import { InMemoryPaymentRepository } from "../../../src/infrastructure/persistence/memory/in-memory-payment-repository";
import { after, authorizingPayment, begin, step, WEEK_MS } from "../../support/worlds/payments";

type Act = (payment: Payment, now: Date) => Payment;

const answers: fc.Arbitrary<SettledAnswer> = fc.constantFrom(
  { outcome: "succeeded", reference: "ref" },
  { outcome: "declined", reason: "no" },
  { outcome: "authorization_gone", reason: "gone" },
);

/** What may be done to whatever operation is open; nothing if none is. */
function toOpen(act: (payment: Payment, id: OperationId, now: Date) => Payment): Act {
  return (payment, now) => {
    const open = openOperationOf(payment);
    return open === undefined ? payment : act(payment, open.id, now);
  };
}

const settling = answers.map((answer): Act =>
  toOpen((payment, id, now) => settle(payment, id, answer, step(now))),
);
/** An answer that comes late, or a second time, for any operation there ever was. */
const settleAny = fc.tuple(answers, fc.nat({ max: 9 })).map(([answer, at]): Act => (payment, now) => {
  const { operations } = payment.facts;
  return settle(payment, operations[at % operations.length]!.id, answer, step(now));
});
const capture = fc.bigInt(1n, 1500n).map((amount): Act => (payment, now) => {
  const decision = decideCapture(payment, begin(), { amount }, step(now));
  return decision.outcome === "begun" ? decision.payment : (decision.changed ?? payment);
});
const lapse: Act = (payment, now) =>
  openOperationOf(payment) === undefined && isLapsed(payment, now) ? expire(payment, step(now)) : payment;
const acts: fc.Arbitrary<Act> = fc.oneof(
  { arbitrary: settling, weight: 4 },
  { arbitrary: capture, weight: 3 },
  settleAny,
  fc.constant(lapse),
  fc.constant<Act>(toOpen((payment, id, now) => stillUnknown(payment, id, "?", step(now)))),
  fc.constant<Act>(
    toOpen((payment, id, now) =>
      // A release stays owed whatever became of a send.
      isRelease(operationOf(payment, id)!) ? payment : notSent(payment, id, "refused", step(now)),
    ),
  ),
  fc.constant<Act>(toOpen((payment, id, now) => needsReview(payment, id, { reason: "why" }, step(now)))),
);
/** A life: what happens, and how long after the one before. */
const lives = fc.array(fc.tuple(acts, fc.constantFrom(0, 1, 5_000, WEEK_MS)), { maxLength: 25 });

/** Lives a life and shows each step, with what was before it. */
function live(
  life: readonly (readonly [Act, number])[],
  look: (before: Payment, next: Payment, now: Date) => void,
) {
  let payment = authorizingPayment();
  let now = payment.facts.createdAt;
  for (const [act, waitMs] of life) {
    now = after(waitMs, now);
    const next = act(payment, now);
    look(payment, next, now);
    payment = next;
  }
  return payment;
}

describe("whatever happens to a payment", () => {
  it("at most one operation is open, and at most one capture has succeeded", () => {
    fc.assert(
      fc.property(lives, (life) => {
        live(life, (_, { facts: { operations } }) => {
          expect(operations.filter(isOpen).length).toBeLessThanOrEqual(1);
          expect(
            operations.filter(({ kind, status }) => kind === "capture" && status === "succeeded").length,
          ).toBeLessThanOrEqual(1);
        });
      }),
    );
  });

  it("whatever happens to a payment never more is captured than was authorized, nor refunded than captured", () => {
    fc.assert(
      fc.property(lives, (life) => {
        live(life, (_, next) => {
          expect(amountCaptured(next)).toBeLessThanOrEqual(next.facts.amount.amount);
          expect(amountRefunded(next)).toBeLessThanOrEqual(amountCaptured(next));
          expect([0n, next.facts.amount.amount]).toContain(amountCapturable(next));
        });
      }),
    );
  });

  it("no step changes what it was given", () => {
    fc.assert(
      fc.property(lives, (life) => {
        let copy: unknown;
        live(
          life.map(([act, waitMs]) => [
            (payment, now) => {
              copy = structuredClone({ facts: payment.facts, newEvents: payment.newEvents });
              return act(payment, now);
            },
            waitMs,
          ]),
          (before) => {
            expect({ facts: before.facts, newEvents: before.newEvents }).toEqual(copy);
          },
        );
      }),
    );
  });

  it("the status moves along the table only", () => {
    fc.assert(
      fc.property(lives, (life) => {
        live(life, ({ facts: { status } }, next) => {
          expect([status, ...Object.values(paymentTransitions[status])]).toContain(next.facts.status);
        });
      }),
    );
  });

  it("each change is told by an event, numbered without a gap, at the time of the change", () => {
    fc.assert(
      fc.property(lives, (life) => {
        live(life, (before, next, now) => {
          if (next === before) return;
          const told = next.newEvents.slice(before.newEvents.length);
          // Another question in vain changes times, and is not worth an entry.
          if (told.length === 0) expect(withoutTimes(next)).toEqual(withoutTimes(before));
          expect(told.every(({ at }) => at.getTime() === now.getTime())).toBe(true);
          expect(next.facts.updatedAt).toEqual(now);
          expect(next.newEvents.map(({ sequence }) => sequence)).toEqual(
            next.newEvents.map((_, at) => at + 1),
          );
          expect(next.facts.eventCount).toBe(next.newEvents.length);
        });
      }),
    );
  });

  it("a finished operation stays as it is, unless a contradiction makes it a matter for a person", () => {
    fc.assert(
      fc.property(lives, (life) => {
        live(life, (before, next) => {
          for (const operation of before.facts.operations.filter(isFinished)) {
            const now = operationOf(next, operation.id);
            if (now?.conflicted === true) continue;
            expect(now).toEqual(operation);
          }
        });
      }),
    );
  });

  it("operations are never lost, and keep the order in which they began", () => {
    fc.assert(
      fc.property(lives, (life) => {
        live(life, (before, next) => {
          const ids = before.facts.operations.map(({ id }) => id);
          expect(next.facts.operations.slice(0, ids.length).map(({ id }) => id)).toEqual(ids);
        });
      }),
    );
  });

  it("an open operation is due, unless two answers contradict each other; any other is not", () => {
    fc.assert(
      fc.property(lives, (life) => {
        live(life, (_, { facts: { operations } }) => {
          for (const operation of operations) {
            const isDue = isOpen(operation) && !isReopenedByContradiction(operation);
            expect([operation.status, operation.dueAt !== null]).toEqual([operation.status, isDue]);
          }
        });
      }),
    );
  });

  it("a payment that is expired or was let go owes its release, until it is done", () => {
    fc.assert(
      fc.property(lives, (life) => {
        const { facts } = live(life, () => {});
        const releases = facts.operations.filter(
          ({ kind, idempotencyKey }) => kind === "void" && idempotencyKey === null,
        );
        const reserved = facts.authorizedAt !== null;
        expect(releases).toHaveLength(facts.status === "expired" && reserved ? 1 : 0);
      }),
    );
  });

  it("every guard of the store lets it be written", async () => {
    await fc.assert(
      fc.asyncProperty(lives, async (life) => {
        const repository = new InMemoryPaymentRepository();
        let { payment, version } = await repository.save(authorizingPayment(), "new");
        let now = payment.facts.createdAt;
        for (const [act, waitMs] of life) {
          now = after(waitMs, now);
          const next = act(payment, now);
          if (next !== payment) ({ payment, version } = await repository.save(next, version));
        }
      }),
    );
  });
});

function withoutTimes({ facts }: Payment) {
  const operations = facts.operations.map((operation) => ({
    ...operation,
    ...{ askedAt: null, dueAt: null, firstSentAt: null },
  }));
  return { ...facts, operations, updatedAt: null };
}
