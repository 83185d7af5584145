import type { Operation, OperationKind } from "../../../src/domain/payment/operation";
import { openOperationOf, amountRefunded, type Payment } from "../../../src/domain/payment/payment";
import type { GatewayStatement } from "../../../src/domain/payment/facts";
import { observe, compare, type Comparison } from "../../../src/domain/payment/picture/observation";
import type { PaymentStatus } from "../../../src/domain/payment/transitions";
import {
  authorizedPayment,
  capturedPayment,
  forged,
  forgedOperation,
  step,
} from "../../support/worlds/payments";

const statements: Record<GatewayStatement["outcome"], GatewayStatement> = {
  succeeded: { outcome: "succeeded", reference: "ref" },
  declined: { outcome: "declined", reason: "no" },
  authorization_gone: { outcome: "authorization_gone", reason: "gone" },
  absent: { outcome: "absent" },
  pending: { outcome: "pending" },
  requires_action: { outcome: "requires_action", reference: "ref", url: "https://bank.example/" },
  unknown: { outcome: "unknown", reason: "timeout" },
  mismatch: { outcome: "mismatch", evidence: "another amount" },
};
const outcomes = Object.keys(statements) as GatewayStatement["outcome"][];

function withLast(payment: Payment, change: Partial<Operation>): { payment: Payment; operation: Operation } {
  const operation = forgedOperation(payment, change);
  return {
    payment: forged(payment, { operations: [...payment.facts.operations, operation] }),
    operation,
  };
}

type Row = readonly [
  what: OperationKind | "release",
  stored: "succeeded" | "failed",
  status: PaymentStatus,
  /** In the order succeeded, declined, authorization_gone, mismatch. */
  expected: readonly [Comparison, Comparison, Comparison, Comparison],
];

/** All combinations that mean something else than their neighbours. */
const table: readonly Row[] = [
  ["authorize", "succeeded", "authorized", ["agrees", "contradicts", "proves_nothing", "contradicts"]],
  ["authorize", "succeeded", "captured", ["agrees", "proves_nothing", "proves_nothing", "proves_nothing"]],
  ["authorize", "succeeded", "voided", ["agrees", "proves_nothing", "proves_nothing", "proves_nothing"]],
  ["authorize", "succeeded", "expired", ["agrees", "proves_nothing", "proves_nothing", "proves_nothing"]],
  ["authorize", "failed", "declined", ["contradicts", "agrees", "agrees", "proves_nothing"]],
  ["capture", "succeeded", "captured", ["agrees", "contradicts", "contradicts", "contradicts"]],
  ["capture", "failed", "authorized", ["contradicts", "agrees", "agrees", "proves_nothing"]],
  ["capture", "failed", "captured", ["contradicts", "agrees", "agrees", "proves_nothing"]],
  ["void", "succeeded", "voided", ["agrees", "contradicts", "agrees", "contradicts"]],
  ["void", "failed", "authorized", ["contradicts", "agrees", "agrees", "proves_nothing"]],
  ["void", "failed", "voided", ["proves_nothing", "agrees", "agrees", "proves_nothing"]],
  ["void", "failed", "expired", ["proves_nothing", "agrees", "agrees", "proves_nothing"]],
  ["release", "succeeded", "expired", ["agrees", "agrees", "agrees", "contradicts"]],
  ["release", "succeeded", "captured", ["agrees", "agrees", "agrees", "proves_nothing"]],
  ["refund", "succeeded", "captured", ["agrees", "failed_later", "contradicts", "contradicts"]],
  ["refund", "failed", "captured", ["contradicts", "agrees", "agrees", "proves_nothing"]],
];

describe("what the gateway says about an operation that has ended", () => {
  it.each(table)("a %s that %s, of a payment that is %s", (what, stored, status, expected) => {
    const own = what === "release" ? { kind: "void" as const, idempotencyKey: null } : { kind: what };
    const { payment, operation } = withLast(forged(authorizedPayment(), { status }), {
      ...own,
      status: stored,
    });
    const order = ["succeeded", "declined", "authorization_gone", "mismatch"] as const;
    expect(order.map((outcome) => compare(payment, operation, statements[outcome]))).toEqual(expected);
    for (const outcome of ["absent", "pending", "unknown"] as const) {
      expect(compare(payment, operation, statements[outcome])).toBe("proves_nothing");
    }
  });

  it.each(["authorize", "void"] as const)(
    "what the gateway says about an operation that has ended proves nothing of %s while something else is under way that may have changed the authorization",
    (kind) => {
      const status = kind === "void" ? "failed" : "succeeded";
      const { payment, operation } = withLast(authorizedPayment(), { kind, status });
      const { payment: busy } = withLast(payment, { kind: "capture", status: "unknown" });
      const seen = statements[kind === "void" ? "succeeded" : "mismatch"];
      expect(compare(payment, operation, seen)).toBe("contradicts");
      expect(compare(busy, operation, seen)).toBe("proves_nothing");
    },
  );

  it.each(["started", "unknown", "needs_review", "not_sent"] as const)(
    "what the gateway says about an operation that has ended proves nothing of one that is %s",
    (status) => {
      const { payment, operation } = withLast(capturedPayment(), { kind: "refund", status });
      for (const outcome of outcomes) {
        expect(compare(payment, operation, statements[outcome])).toBe("proves_nothing");
        expect(observe(payment, operation.id, statements[outcome], step())).toBe(payment);
      }
    },
  );

  it.each(outcomes)("changes nothing (%s) where a person has to decide already", (outcome) => {
    const { payment, operation } = withLast(capturedPayment(), {
      kind: "refund",
      status: "succeeded",
      conflicted: true,
    });
    expect(observe(payment, operation.id, statements[outcome], step())).toBe(payment);
  });

  it("what the gateway says about an operation that has ended lets a doubted capture be opened for a person when nothing hangs on it any more", () => {
    const captured = capturedPayment();
    const operations = captured.facts.operations.map((one) =>
      one.kind === "capture" ? { ...one, conflicted: true } : one,
    );
    const { payment, operation } = withLast(forged(captured, { operations }), {
      kind: "refund",
      status: "succeeded",
      amount: 100n,
    });
    const next = observe(payment, operation.id, statements.declined, step());
    expect(amountRefunded(next)).toBe(0n);
    expect(openOperationOf(next)).toMatchObject({ kind: "capture", status: "needs_review" });
  });
});
