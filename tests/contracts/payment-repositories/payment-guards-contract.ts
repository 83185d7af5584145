import { restored } from "../../../src/domain/payment/restored";
import {
  DuplicateAuthorizationError,
  DuplicateKeyError,
  VersionConflictError,
} from "../../../src/application/ports/payment-repository";
import type { Payment } from "../../../src/domain/payment/payment";
import {
  inMemoryGuards,
  type GuardName,
} from "../../../src/infrastructure/persistence/memory/in-memory-guards";
import {
  authorizedPayment,
  authorizingPayment,
  begin,
  capturedPayment,
  capturingPayment,
  forged,
  forgedOperation,
} from "../../support/worlds/payments";
import type { PaymentRepositoryHarness } from "./payment-repository-harness";

/** Two writes; the second is what the guard is there to refuse. */
interface Offence {
  readonly first: Payment;
  readonly second: Payment;
  /** What the second writer believes to be stored. */
  readonly expectedVersion: number | "new";
}

const authorized = restored(authorizedPayment().facts);
const sameKey = begin().idempotencyKey;

const offences: Record<GuardName, () => Offence> = {
  version: () => ({
    // Whoever writes second had read what was there before the first write.
    first: forged(authorized, { reference: "read by both" }),
    second: forged(authorized, { reference: "written by the other" }),
    expectedVersion: 0,
  }),
  one_open_operation: () => ({
    first: capturingPayment(authorized),
    second: capturingPayment(authorized),
    expectedVersion: 1,
  }),
  one_succeeded_capture: () => {
    const first = capturedPayment(authorized, 400n);
    const another = forgedOperation(first, { amount: 400n });
    return {
      first,
      second: forged(first, { operations: [...first.facts.operations, another] }),
      expectedVersion: 1,
    };
  },
  one_operation_per_key: () => {
    const failed = { status: "failed", idempotencyKey: sameKey } as const;
    const first = forged(authorized, {
      operations: [...authorized.facts.operations, forgedOperation(authorized, failed)],
    });
    const again = forgedOperation(authorized, failed);
    return {
      first,
      second: forged(first, { operations: [...first.facts.operations, again] }),
      expectedVersion: 1,
    };
  },
  one_payment_per_authorize_key: () => ({
    first: authorizingPayment({ key: "order-1" }),
    second: authorizingPayment({ key: "order-1" }),
    expectedVersion: "new",
  }),
  one_payment_per_authorization: () => ({
    first: authorizedPayment({ merchant: "acme", authorizationReference: "pi_1" }),
    second: authorizedPayment({ merchant: "other", authorizationReference: "pi_1" }),
    expectedVersion: "new",
  }),
  one_operation_per_movement_elsewhere: () => {
    const captured = capturedPayment(authorized, 600n);
    const elsewhere = { kind: "refund", amount: 100n, origin: "gateway", gatewayReference: "re_1" } as const;
    const seen = { ...elsewhere, idempotencyKey: null };
    const first = forged(captured, {
      operations: [...captured.facts.operations, forgedOperation(captured, seen)],
    });
    return {
      first,
      second: forged(first, { operations: [...first.facts.operations, forgedOperation(captured, seen)] }),
      expectedVersion: 1,
    };
  },
  captured_within_authorized: () => {
    const tooMuch = forgedOperation(authorized, { amount: authorized.facts.amount.amount + 1n });
    return {
      first: authorized,
      second: forged(authorized, { operations: [...authorized.facts.operations, tooMuch] }),
      expectedVersion: 1,
    };
  },
  refunded_within_captured: () => {
    const first = capturedPayment(authorized, 600n);
    const refunds = [300n, 301n].map((amount) => forgedOperation(first, { kind: "refund", amount }));
    return {
      first,
      second: forged(first, { operations: [...first.facts.operations, ...refunds] }),
      expectedVersion: 1,
    };
  },
  one_event_per_sequence: () => {
    const first = capturingPayment(authorized);
    const { operations } = authorized.facts;
    // The same history, told a second time and otherwise.
    return {
      first,
      second: withOperations(capturingPayment(authorized), operations),
      expectedVersion: 1,
    };
  },
};

/** The payment with its new events and other operations. */
function withOperations(payment: Payment, operations: Payment["facts"]["operations"]): Payment {
  return new Proxy(payment, {
    get: (target, property, receiver) =>
      property === "facts"
        ? { ...target.facts, operations }
        : (Reflect.get(target, property, receiver) as unknown),
  });
}

/** Each guard is seen refusing all by itself, and the same write going through when nothing is left. */
export function describePaymentGuards(name: string, make: () => Promise<PaymentRepositoryHarness>): void {
  const all = inMemoryGuards.map((guard) => guard.name);

  describe(`${name}: each guard is alive`, () => {
    let harness: PaymentRepositoryHarness;
    beforeEach(async () => {
      harness = await make();
    });
    afterEach(async () => {
      await harness.close();
    });

    async function commit({ first, second, expectedVersion }: Offence): Promise<unknown> {
      await harness.repository.save(first, "new");
      return harness.repository.save(second, expectedVersion);
    }

    const refusals: Partial<Record<GuardName, new (...args: never[]) => Error>> = {
      one_payment_per_authorize_key: DuplicateKeyError,
      one_payment_per_authorization: DuplicateAuthorizationError,
    };
    const refusal = (guard: GuardName) => refusals[guard] ?? VersionConflictError;

    it.each(all)("%s alone refuses what it is there to refuse", async (guard) => {
      for (const other of all) if (other !== guard) await harness.removeGuard(other);
      await expect(commit(offences[guard]())).rejects.toBeInstanceOf(refusal(guard));
    });

    it.each(all)("without any guard, what %s refuses goes through", async (guard) => {
      for (const each of all) await harness.removeGuard(each);
      await expect(commit(offences[guard]())).resolves.toBeDefined();
    });

    it.each(["started", "unknown", "pending", "requires_action", "needs_review"] as const)(
      "one_open_operation alone refuses a second operation beside one that is %s",
      async (status) => {
        for (const other of all) if (other !== "one_open_operation") await harness.removeGuard(other);
        const waiting = forgedOperation(authorized, { status, amount: 1n });
        const operations = [...authorized.facts.operations, waiting];
        const second = capturingPayment(authorized);
        await expect(
          commit({ first: forged(authorized, { operations }), second, expectedVersion: 1 }),
        ).rejects.toBeInstanceOf(VersionConflictError);
      },
    );

    it("an event that was written is neither changed nor dropped, not even past the port", async () => {
      const payment = capturedPayment();
      await harness.repository.save(payment, "new");
      for (const statement of ["UPDATE events SET type = 'x'", "DELETE FROM events"]) {
        if (harness.rewriteHistory === undefined) break;
        await expect(harness.rewriteHistory(statement)).rejects.toThrow("never changed or dropped");
      }
      expect(await harness.repository.events(payment.facts.id)).toEqual(payment.newEvents);
    });

    describe("two captures of one payment", () => {
      async function captureTwice(): Promise<Payment | undefined> {
        const { version } = await harness.repository.save(authorized, "new");
        // Both have read the same payment; each carries its capture through to the end.
        await harness.repository.save(capturedPayment(authorized, 400n), version);
        await harness.repository.save(capturedPayment(authorized, 400n), version);
        return (await harness.repository.find(authorized.facts.id))?.payment;
      }

      it("two captures of one payment are stopped by the version alone", async () => {
        for (const guard of all) if (guard !== "version") await harness.removeGuard(guard);
        await expect(captureTwice()).rejects.toBeInstanceOf(VersionConflictError);
      });

      it("two captures of one payment are stopped by the indexes alone", async () => {
        await harness.removeGuard("version");
        await expect(captureTwice()).rejects.toBeInstanceOf(VersionConflictError);
      });

      it("both happen once the version and the indexes are gone", async () => {
        for (const guard of all) await harness.removeGuard(guard);
        const captured = (await captureTwice())?.facts.operations.filter(
          ({ kind, status }) => kind === "capture" && status === "succeeded",
        );
        expect(captured).toHaveLength(2);
      });
    });
  });
}
