import { randomUUID } from "node:crypto";
import {
  DuplicateKeyError,
  InvalidCursorError,
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { parseMerchantId, parsePaymentId } from "../../../src/domain/identifiers";
import type { Payment } from "../../../src/domain/payment";
import {
  after,
  authorizedPayment,
  authorizingPayment,
  capturedPayment,
  capturingPayment,
  declines,
  expiredPayment,
  forged,
  inReview,
  newOperationId,
  NOON,
  openOperation,
  settled,
  step,
  succeeds,
  WEEK_MS,
} from "../../support/payments";
import type { PaymentRepositoryHarness } from "./payment-repository-harness";

const acme = parseMerchantId("acme");
const MINUTE_MS = 60_000;

/** What every payment repository promises, in the words of the port. */
export function describePaymentRepository(name: string, make: () => Promise<PaymentRepositoryHarness>): void {
  describe(`${name} keeps payments`, () => {
    let harness: PaymentRepositoryHarness;
    let repository: PaymentRepository;
    beforeEach(async () => {
      harness = await make();
      ({ repository } = harness);
    });
    afterEach(async () => {
      await harness.close();
    });

    /** Saves each step of a payment's life in turn. */
    async function saved(...steps: readonly [Payment, ...Payment[]]): Promise<number> {
      let version: number | "new" = "new";
      for (const payment of steps) ({ version } = await repository.save(payment, version));
      return version as number;
    }

    describe("as they were written", () => {
      it("gives back a payment with everything that belongs to it", async () => {
        const payment = authorizedPayment({
          amount: 999_999_999_999n,
          currency: "KWD",
          reference: "order 4711 / Ü",
          metadata: { note: 'a "quoted" ☃ and \u0000-free text', empty: "" },
        });
        await saved(payment);
        expect((await repository.find(payment.id))?.payment.facts).toEqual(payment.facts);
      });

      it("gives back every field of every operation", async () => {
        const capturing = capturingPayment();
        const failed = settled(capturing, { outcome: "authorization_gone", reason: "reauthorize" });
        const released = settled(failed, declines("busy"), after(7));
        await saved(released);
        expect((await repository.find(released.id))?.payment.facts.operations).toEqual(
          released.facts.operations,
        );
      });

      it("keeps operations in the order in which they began, across saves", async () => {
        const capturing = capturingPayment();
        const failed = settled(capturing.stored(), declines());
        const again = settled(capturingPayment(failed.stored()), succeeds("cap_2"));
        await saved(capturing, failed, again);
        const found = (await repository.find(again.id))?.payment.facts.operations;
        expect(found?.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
          "authorize succeeded",
          "capture failed",
          "capture succeeded",
        ]);
      });

      it("writes one operation that closes and one that opens in the same save", async () => {
        const capturing = capturingPayment();
        const gone = settled(capturing.stored(), { outcome: "authorization_gone", reason: "gone" });
        await saved(capturing, gone);
        expect((await repository.find(gone.id))?.payment.facts).toEqual(gone.facts);
      });

      it("writes an earlier operation that opens again when a later one closes", async () => {
        const declined = settled(capturingPayment(), declines());
        const second = capturingPayment(declined.stored());
        const [, first] = second.facts.operations;
        const contradicted = second
          .stored()
          .settle(first!.id, succeeds("cap_late"), newOperationId(), NOON, step(after(1)));
        const closed = settled(contradicted.stored(), declines(), after(2));
        expect(closed.facts.operations.map(({ status }) => status)).toEqual([
          "succeeded",
          "needs_review",
          "failed",
        ]);
        await saved(second, contradicted, closed);
        expect((await repository.find(closed.id))?.payment.facts).toEqual(closed.facts);
      });

      it("resolves a save with what is stored now: the next version and no events waiting", async () => {
        const payment = authorizedPayment();
        const first = await repository.save(payment, "new");
        expect(first.payment.newEvents).toEqual([]);
        expect(first.payment.facts).toEqual(payment.facts);
        const second = await repository.save(capturingPayment(first.payment), first.version);
        expect(second.version).toBe(first.version + 1);
        expect(await repository.find(payment.id)).toEqual(second);
      });

      it("has no payment where none was written", async () => {
        expect(await repository.find(parsePaymentId(randomUUID()))).toBeNull();
        expect(await repository.events(parsePaymentId(randomUUID()))).toBeNull();
        expect(await repository.findByOperation(newOperationId())).toBeNull();
      });

      it("finds a payment by each of its operations, and by its merchant's authorize key", async () => {
        const payment = capturingPayment(authorizedPayment({ key: "order-1" }));
        await saved(payment);
        for (const { id } of payment.facts.operations) {
          expect(await repository.findByOperation(id)).toBe(payment.id);
        }
        const { idempotencyKey } = payment.facts.operations[0]!;
        expect(await repository.findByAuthorizeKey(acme, idempotencyKey!)).toBe(payment.id);
        expect(await repository.findByAuthorizeKey(parseMerchantId("other"), idempotencyKey!)).toBeNull();
        const captureKey = payment.facts.operations[1]!.idempotencyKey!;
        expect(await repository.findByAuthorizeKey(acme, captureKey)).toBeNull();
      });
    });

    describe("at one version", () => {
      it("refuses a write that expects an older version", async () => {
        const payment = authorizedPayment();
        const { version } = await repository.save(payment, "new");
        const capturing = capturingPayment(payment.stored());
        await repository.save(settled(capturing, declines()), version);
        await expect(repository.save(capturing, version)).rejects.toMatchObject({
          code: "version_conflict",
          paymentId: payment.id,
        });
      });

      it.each([2, 0, 7])(
        "refuses a write that expects version %p of a payment at version 1",
        async (other) => {
          const payment = authorizedPayment();
          await repository.save(payment, "new");
          await expect(repository.save(capturingPayment(payment.stored()), other)).rejects.toBeInstanceOf(
            VersionConflictError,
          );
        },
      );

      it("refuses to write a payment as new that is there, or as known that is not", async () => {
        const payment = authorizedPayment();
        await repository.save(payment, "new");
        await expect(repository.save(payment, "new")).rejects.toBeInstanceOf(VersionConflictError);
        await expect(repository.save(authorizedPayment(), 1)).rejects.toBeInstanceOf(VersionConflictError);
      });

      it("lets exactly one of many writers of the same version through", async () => {
        const payment = authorizedPayment();
        const { version } = await repository.save(payment, "new");
        const writers = Array.from({ length: 20 }, () =>
          repository.save(capturingPayment(payment.stored()), version),
        );
        const results = await Promise.allSettled(writers);
        expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        for (const result of results) {
          if (result.status === "rejected") expect(result.reason).toBeInstanceOf(VersionConflictError);
        }
      });

      it("lets exactly one of many new payments with the same authorize key through", async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, () => repository.save(authorizingPayment({ key: "order-1" }), "new")),
        );
        expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        for (const result of results) {
          if (result.status === "rejected") expect(result.reason).toBeInstanceOf(DuplicateKeyError);
        }
      });

      it("lets two merchants use the same authorize key", async () => {
        await repository.save(authorizingPayment({ key: "order-1" }), "new");
        await repository.save(authorizingPayment({ key: "order-1", merchant: "other" }), "new");
        expect((await repository.list({ merchant: acme, limit: 10 })).data).toHaveLength(1);
      });

      it("writes nothing of a payment that it refuses", async () => {
        const payment = authorizedPayment();
        const { version } = await repository.save(payment, "new");
        const winner = capturingPayment(payment.stored());
        await repository.save(winner, version);
        const loser = settled(capturingPayment(payment.stored()), {
          outcome: "authorization_gone",
          reason: "x",
        });
        await expect(repository.save(loser, version)).rejects.toBeInstanceOf(VersionConflictError);
        expect((await repository.find(payment.id))?.payment.facts).toEqual(winner.facts);
        expect(await repository.events(payment.id)).toHaveLength(winner.facts.eventCount);
        expect(await repository.findByOperation(loser.facts.operations[1]!.id)).toBeNull();
      });

      it("writes an operation whose first save was refused when it is saved again", async () => {
        const other = authorizingPayment({ key: "order-1" });
        await repository.save(other, "new");
        const refused = authorizingPayment({ key: "order-1" });
        await expect(repository.save(refused, "new")).rejects.toBeInstanceOf(DuplicateKeyError);
        const moved = capturingPayment();
        await repository.save(moved.stored(), "new");
        const declined = settled(moved.stored(), declines());
        await expect(repository.save(declined, 7)).rejects.toBeInstanceOf(VersionConflictError);
        await repository.save(declined, 1);
        expect((await repository.find(moved.id))?.payment.facts).toEqual(declined.facts);
      });
    });

    describe("with their history", () => {
      it("keeps the events of each save, in sequence", async () => {
        const capturing = capturingPayment();
        const captured = settled(capturing.stored(), succeeds("cap_1"), after(20));
        await saved(capturing, captured);
        const events = await repository.events(captured.id);
        expect(events).toEqual([...capturing.newEvents, ...captured.newEvents]);
        expect(events?.map(({ sequence }) => sequence)).toEqual(
          Array.from({ length: captured.facts.eventCount }, (_, at) => at + 1),
        );
      });

      it("gives back what an event tells, nested facts and other scripts included", async () => {
        const trace = {
          lock: { waitedMs: 12, for: "pid 4711 – Büro" },
          list: [1, null, true],
          at: NOON.toISOString(),
        };
        const payment = authorizingPayment();
        const traced = payment.settle(
          payment.facts.operations[0]!.id,
          declines(),
          newOperationId(),
          NOON,
          step(NOON, trace),
        );
        await saved(traced);
        expect((await repository.events(traced.id))?.at(-1)?.data).toMatchObject(trace);
      });
    });

    describe("for those who list them", () => {
      it("lists a merchant's payments, the newest first, and nobody else's", async () => {
        const [first, second, third] = [0, 2, 1].map((minutes) =>
          authorizedPayment({ createdAt: after(minutes * MINUTE_MS) }),
        ) as [Payment, Payment, Payment];
        await saved(first);
        await saved(second);
        await saved(third);
        await saved(authorizedPayment({ merchant: "other" }));
        const { data, nextCursor } = await repository.list({ merchant: acme, limit: 10 });
        expect(data.map(({ id }) => id)).toEqual([second.id, third.id, first.id]);
        expect(data[0]!.facts).toEqual(second.facts);
        expect(nextCursor).toBeNull();
      });

      it("pages through payments of the same instant without losing or repeating one", async () => {
        const payments = Array.from({ length: 7 }, () => authorizedPayment());
        for (const payment of payments) await saved(payment);
        const seen: string[] = [];
        let cursor: string | undefined;
        let pages = 0;
        do {
          const page = await repository.list({ merchant: acme, limit: 3, ...(cursor && { cursor }) });
          seen.push(...page.data.map(({ id }) => id));
          cursor = page.nextCursor ?? undefined;
          pages += 1;
        } while (cursor !== undefined);
        expect(seen).toEqual(
          payments
            .map(({ id }) => id as string)
            .sort()
            .reverse(),
        );
        expect(pages).toBe(3);
      });

      it("has no next page where the last one is exactly full", async () => {
        await saved(authorizedPayment());
        await saved(authorizedPayment());
        expect((await repository.list({ merchant: acme, limit: 2 })).nextCursor).toBeNull();
      });

      it("filters by the status that callers see", async () => {
        const lives: Record<string, Payment> = {
          authorizing: authorizingPayment(),
          authorized: authorizedPayment(),
          capturing: capturingPayment(),
          captured: capturedPayment(),
          expired: expiredPayment(),
          declined: settled(authorizingPayment(), declines()),
        };
        for (const payment of Object.values(lives)) await saved(payment);
        for (const [status, payment] of Object.entries(lives)) {
          const { data } = await repository.list({ merchant: acme, limit: 10, status });
          expect([status, data.map(({ id }) => id)]).toEqual([status, [payment.id]]);
        }
        expect((await repository.list({ merchant: acme, limit: 10, status: "lost" })).data).toEqual([]);
      });

      it("follows the status from save to save", async () => {
        const capturing = capturingPayment();
        const version = await saved(capturing);
        await repository.save(settled(capturing.stored(), declines()), version);
        expect((await repository.list({ merchant: acme, limit: 10, status: "capturing" })).data).toEqual([]);
        expect(
          (await repository.list({ merchant: acme, limit: 10, status: "authorized" })).data,
        ).toHaveLength(1);
      });

      it("filters by reference and by when they were created, the end excluded", async () => {
        const payments = [0, 1, 2].map((minutes) =>
          authorizedPayment({ createdAt: after(minutes * MINUTE_MS), reference: `order-${minutes % 2}` }),
        );
        for (const payment of payments) await saved(payment);
        const ids = async (query: object) =>
          (await repository.list({ merchant: acme, limit: 10, ...query })).data.map(({ id }) =>
            payments.findIndex((p) => p.id === id),
          );
        expect(await ids({ reference: "order-0" })).toEqual([2, 0]);
        expect(await ids({ createdFrom: after(MINUTE_MS) })).toEqual([2, 1]);
        expect(await ids({ createdTo: after(MINUTE_MS) })).toEqual([0]);
        expect(
          await ids({ createdFrom: after(1), createdTo: after(2 * MINUTE_MS), reference: "order-1" }),
        ).toEqual([1]);
      });

      it("refuses a cursor that somebody has written on", async () => {
        await saved(authorizedPayment());
        await saved(authorizedPayment());
        const { nextCursor } = await repository.list({ merchant: acme, limit: 1 });
        for (const cursor of [
          `${nextCursor}=`,
          `${nextCursor}!`,
          ` ${nextCursor}`,
          nextCursor!.slice(0, -1),
        ]) {
          await expect(repository.list({ merchant: acme, limit: 1, cursor })).rejects.toBeInstanceOf(
            InvalidCursorError,
          );
        }
      });

      it.each(["", "junk", "💥", "MTIzNDU", "e30", "'; DROP TABLE payments; --", "a".repeat(5000)])(
        "refuses %j as a cursor",
        async (cursor) => {
          await expect(repository.list({ merchant: acme, limit: 1, cursor })).rejects.toBeInstanceOf(
            InvalidCursorError,
          );
          await expect(repository.operationsInReview({ limit: 1, cursor })).rejects.toMatchObject({
            code: "invalid_cursor",
          });
        },
      );
    });

    describe("for the work in the background", () => {
      it("gives the operations that are due, the longest due first", async () => {
        const late = capturingPayment(authorizedPayment({ createdAt: after(-MINUTE_MS) }));
        const later = capturingPayment();
        const finished = capturedPayment();
        const future = capturingPayment(authorizedPayment({ createdAt: after(MINUTE_MS) }));
        for (const payment of [later, finished, future, late]) await saved(payment);
        const due = await repository.dueOperations(after(10_000), 10);
        expect(due).toEqual(
          [late, later].map((payment) => ({
            paymentId: payment.id,
            operationId: openOperation(payment).id,
            dueAt: openOperation(payment).dueAt,
          })),
        );
      });

      it("takes an operation for due at its very instant, and not a millisecond before", async () => {
        const payment = capturingPayment();
        await saved(payment);
        const dueAt = openOperation(payment).dueAt!;
        expect(await repository.dueOperations(after(-1, dueAt), 10)).toEqual([]);
        expect(await repository.dueOperations(dueAt, 10)).toHaveLength(1);
      });

      it("goes on after the last due operation it gave, also within one instant", async () => {
        const payments = Array.from({ length: 5 }, () => capturingPayment());
        for (const payment of payments) await saved(payment);
        const first = await repository.dueOperations(after(MINUTE_MS), 2);
        const second = await repository.dueOperations(after(MINUTE_MS), 2, first[1]);
        const third = await repository.dueOperations(after(MINUTE_MS), 2, second[1]);
        const ids = [...first, ...second, ...third].map(({ operationId }) => operationId);
        expect(ids).toEqual(payments.map((payment) => openOperation(payment).id).sort());
      });

      it("does not take what waits for a person for due", async () => {
        const asked = inReview(capturingPayment());
        const [authorize, capture] = asked.facts.operations;
        // Not even with an instant left over from before.
        await saved(forged(asked, { operations: [authorize!, { ...capture!, dueAt: NOON }] }));
        expect(await repository.dueOperations(after(WEEK_MS), 10)).toEqual([]);
      });

      it("gives authorizations that have ended with nothing open, the oldest first", async () => {
        const one = authorizedPayment({ expiresAt: after(2 * MINUTE_MS) });
        const two = authorizedPayment({ expiresAt: after(MINUTE_MS) });
        const open = capturingPayment(authorizedPayment({ expiresAt: after(MINUTE_MS) }));
        const asked = inReview(capturingPayment(authorizedPayment({ expiresAt: after(MINUTE_MS) })));
        const captured = capturedPayment(authorizedPayment({ expiresAt: after(MINUTE_MS) }));
        const living = authorizedPayment({ expiresAt: after(9 * MINUTE_MS) });
        for (const payment of [one, two, open, asked, captured, living]) await saved(payment);
        const lapsed = await repository.lapsedAuthorizations(after(2 * MINUTE_MS), 10);
        expect(lapsed).toEqual(
          [two, one].map(({ id, facts: { expiresAt } }) => ({ paymentId: id, expiresAt })),
        );
        expect(await repository.lapsedAuthorizations(after(2 * MINUTE_MS), 10, lapsed[0])).toEqual([
          lapsed[1],
        ]);
        expect(await repository.lapsedAuthorizations(after(2 * MINUTE_MS - 1), 10)).toEqual([lapsed[0]]);
      });

      it("gives what waits for a person, the oldest first, page by page", async () => {
        const payments = [3, 1, 2].map((minutes) =>
          inReview(capturingPayment(authorizedPayment({ createdAt: after(minutes * MINUTE_MS) }), 700n)),
        );
        for (const payment of [...payments, capturingPayment()]) await saved(payment);
        expect(await repository.countInReview()).toBe(3);
        const first = await repository.operationsInReview({ limit: 2 });
        const second = await repository.operationsInReview({ limit: 2, cursor: first.nextCursor! });
        expect(second.nextCursor).toBeNull();
        expect([...first.data, ...second.data]).toEqual(
          [payments[1]!, payments[2]!, payments[0]!].map((payment) => ({
            paymentId: payment.id,
            merchant: "acme",
            operationId: openOperation(payment).id,
            kind: "capture",
            amount: 700n,
            currency: "EUR",
            createdAt: openOperation(payment).createdAt,
          })),
        );
      });
    });

    it("answers a ping", async () => {
      await expect(repository.ping()).resolves.toBeUndefined();
    });
  });
}
