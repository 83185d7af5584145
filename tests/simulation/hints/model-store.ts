import type { LockProvider } from "../../../src/application/ports/lock-provider";
import { LockTimeoutError } from "../../../src/application/ports/lock-errors";
import {
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import type { Payment } from "../../../src/domain/payment/payment";
import { restored } from "../../../src/domain/payment/restored";
import { NoOpLockProvider } from "../../../src/infrastructure/locking/none/no-op-lock-provider";
import type { Steps } from "../interleavings";
import { nameOf, paymentOf } from "../named-payments";

/** What is stored of one payment, and who has its lock. */
export interface Stored {
  payment: Payment;
  version: number;
  /** Of its history: what each event is about. */
  history: string[];
  holder: number | null;
}

/** The part of a repository that one payment needs. `blind`: it does not compare versions. */
export function storeOver(
  { take }: Pick<Steps<Stored>, "take">,
  { blind }: { readonly blind: boolean },
): PaymentRepository {
  const part: Partial<PaymentRepository> = {
    findByAuthorization: () => Promise.resolve(null),
    // There are no verdicts in this model, and nothing else is looked up there.
    events: () => Promise.resolve([]),
    find: async () => {
      const read = await take("reads", ({ payment, version }) => ({ name: nameOf(payment), version }));
      return { payment: paymentOf(read.name), version: read.version };
    },
    save: async (next, expected) => {
      const name = nameOf(next);
      const told = next.newEvents.map(({ type, data }) => `${type} ${String(data["operationId"])}`);
      const version = await take("writes", (stored) => {
        if (!blind && stored.version !== expected) return null;
        // As rows are upserted: what the writer does not know of stays.
        const given = paymentOf(name);
        const { operations } = given.facts;
        const written = new Set(operations.map(({ id }) => id));
        const kept = stored.payment.facts.operations.filter(({ id }) => !written.has(id));
        stored.payment =
          kept.length === 0 ? given : restored({ ...given.facts, operations: [...operations, ...kept] });
        stored.history = [...stored.history, ...told];
        return (stored.version += 1);
      });
      if (version === null) throw new VersionConflictError(next.facts.id);
      return { payment: paymentOf(name), version };
    },
  };
  return part as PaymentRepository;
}

/** One attempt each: whoever finds the lock taken is told so at once. */
export function locksOver({ take }: Pick<Steps<Stored>, "take">, which: number): LockProvider {
  const none = new NoOpLockProvider();
  return {
    withLock: async (resourceId, section, options) => {
      const isHeld = await take("asks for the lock", (stored) => {
        stored.holder ??= which;
        return stored.holder === which;
      });
      if (!isHeld) throw new LockTimeoutError(resourceId, 0, { seconds: 0, source: "this call" } as never);
      try {
        return await none.withLock(resourceId, section, options);
      } finally {
        await take("gives the lock back", (stored) => void (stored.holder = null));
      }
    },
  };
}
