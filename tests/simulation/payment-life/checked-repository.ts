import { isDeepStrictEqual } from "node:util";
import type { PaymentRepository, StoredPayment } from "../../../src/application/ports/payment-repository";
import { isFinished, type Operation } from "../../../src/domain/payment/operation";
import type { Payment } from "../../../src/domain/payment/payment";

/** Around a store, below everything that fails: each save is read back, and nothing may change that is bound. */
export function checkedRepository(
  payments: PaymentRepository,
  complain: (what: string) => void,
): PaymentRepository {
  const known = new Map<string, Operation>();

  async function save(payment: Payment, expectedVersion: number | "new"): Promise<StoredPayment> {
    const saved = await payments.save(payment, expectedVersion);
    const read = await payments.find(payment.facts.id);
    const { facts } = saved.payment;
    if (read?.version !== saved.version || !isDeepStrictEqual(read.payment.facts, facts)) {
      complain(
        `payment ${payment.facts.id}: stored ${inWords(facts)}, read back ${inWords(read?.payment.facts)}`,
      );
    }
    for (const operation of read?.payment.facts.operations ?? []) {
      const before = known.get(operation.id);
      known.set(operation.id, operation);
      if (before === undefined) continue;
      const what = `payment ${payment.facts.id}: ${operation.kind} ${operation.id}`;
      if (!isDeepStrictEqual(bond(before), bond(operation))) complain(`${what} was bound to something else`);
      const isTold = payment.newEvents.some(({ data }) => data["operationId"] === operation.id);
      if (isFinished(before) && !isTold && outcome(before) !== outcome(operation))
        complain(`${what} was ${outcome(before)}, is ${outcome(operation)}, and the history does not say so`);
    }
    return saved;
  }

  return new Proxy(payments, {
    get: (store, name) => {
      if (name === "save") return save;
      const member: unknown = Reflect.get(store, name, store);
      return typeof member === "function" ? (member.bind(store) as unknown) : member;
    },
  });
}

function bond({ id, paymentId, kind, idempotencyKey, fingerprint, amount, createdAt }: Operation): unknown {
  return { id, paymentId, kind, idempotencyKey, fingerprint, amount, createdAt };
}

function outcome({ status, conflicted }: Operation): string {
  return conflicted ? `${status}, contradicted` : status;
}

function inWords(facts: unknown): string {
  return JSON.stringify(facts, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value));
}
