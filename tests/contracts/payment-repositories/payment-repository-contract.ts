import { applyVerdict, settle } from "../../../src/domain/payment/settlement";
import { restored } from "../../../src/domain/payment/restored";
import { randomUUID } from "node:crypto";
import {
  DuplicateKeyError,
  InvalidCursorError,
  StoreUnavailableError,
  VersionConflictError,
  type PaymentRepository,
} from "../../../src/application/ports/payment-repository";
import { parseIdempotencyKey, parseMerchantId, parsePaymentId } from "../../../src/domain/identifiers";
import type { Currency } from "../../../src/domain/money";
import type { Operation, OperationBond, OperationProgress } from "../../../src/domain/payment/operation";
import type { Payment } from "../../../src/domain/payment/payment";
import type { GatewayPicture } from "../../../src/domain/payment/picture/gateway-picture";
import { observePicture } from "../../../src/domain/payment/picture/observe-picture";
import type { PaymentEvent } from "../../../src/domain/payment/events";
import {
  after,
  authorizedPayment,
  authorizingPayment,
  capturedPayment,
  capturingPayment,
  declines,
  expiredPayment,
  forged,
  forgedOperation,
  inReview,
  newOperationId,
  NOON,
  openOperation,
  settled,
  step,
  succeeds,
  WEEK_MS,
} from "../../support/worlds/payments";
import { stillUnknown } from "../../../src/domain/payment/waiting";
import type { PaymentRepositoryHarness } from "./payment-repository-harness";

const acme = parseMerchantId("acme");
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** What a store says at a ping may be a second old. */
async function soon(expectation: () => Promise<unknown>): Promise<void> {
  for (let looks = 1; looks < 60; looks += 1) {
    try {
      await expectation();
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  await expectation();
}

/** A value or two for each field that a step may change. */
const progress: { readonly [Field in keyof OperationProgress]: readonly OperationProgress[Field][] } = {
  n: [2],
  status: ["started", "unknown", "pending", "requires_action", "needs_review", "succeeded", "not_sent"],
  failureCode: ["payment_expired", null],
  failureReason: ["another reason", null],
  gatewayReference: ["re_2", null],
  attempts: [3],
  conflicted: [true],
  firstSentAt: [after(11), null],
  askedAt: [after(12), null],
  dueAt: [after(13), null],
  decidesBy: [after(15), null],
  settledAt: [after(14), null],
  settledSequence: [9, null],
  correctedSequence: [10, null],
};

/** Other values for what an operation is bound to. Its id is what it is known by. */
const otherBond: Readonly<Omit<OperationBond, "id">> = {
  paymentId: parsePaymentId(randomUUID()),
  kind: "void",
  origin: "gateway",
  idempotencyKey: parseIdempotencyKey("another-key"),
  fingerprint: "another request",
  amount: 301n,
  createdAt: after(15),
};

/** A captured payment with a refund that failed, every field of which has a value. */
function withRefund(payment = capturedPayment(), change: Partial<Operation> = {}): Payment {
  const { operations } = payment.facts;
  const refund = operations.find(({ kind }) => kind === "refund") ?? {
    ...forgedOperation(payment, { kind: "refund", amount: 300n, status: "failed" }),
    ...{ failureCode: "refund_declined" as const, failureReason: "no", gatewayReference: "re_1" },
    ...{
      attempts: 1,
      firstSentAt: after(1),
      askedAt: after(2),
      dueAt: after(3),
      settledAt: after(4),
      settledSequence: 5,
      correctedSequence: 6,
    },
  };
  const others = operations.filter(({ kind }) => kind !== "refund");
  return forged(payment, { operations: [...others, { ...refund, ...change }] });
}

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
      it("a payment repository gives back a payment with everything that belongs to it", async () => {
        const payment = authorizedPayment({
          amount: 999_999_999_999n,
          currency: "KWD",
          gatewayAccount: "acct_1",
          reference: "order 4711 / Ü",
          metadata: { note: 'a "quoted" ☃ and \u0000-free text', empty: "" },
        });
        await saved(payment);
        expect((await repository.find(payment.facts.id))?.payment.facts).toEqual(payment.facts);
      });

      it("a payment repository keeps where the customer has to act, and lists the payment by it, for as long as that is", async () => {
        const returnUrl = "https://shop.example/back?ü=1";
        const authorizing = authorizingPayment({ returnUrl });
        const id = openOperation(authorizing).id;
        const url = "https://bank.example/3ds";
        const action = { outcome: "requires_action", reference: "auth_waits", url } as const;
        const waiting = applyVerdict(authorizing, id, action, step());
        const { version } = await repository.save(waiting, "new");
        const found = await repository.find(authorizing.facts.id);
        expect(found?.payment.facts).toEqual(waiting.facts);
        expect(found?.payment.facts).toMatchObject({ returnUrl, actionUrl: url });
        expect(await repository.findByAuthorization("auth_waits")).toBe(authorizing.facts.id);
        const query = { merchant: authorizing.facts.merchant, limit: 10, status: "requires_action" };
        expect((await repository.list(query)).data).toHaveLength(1);
        const due = await repository.dueOperations(after(HOUR_MS), 10);
        expect(due).toMatchObject([{ operationId: id }]);

        const settledNow = settled(restored(waiting.facts), succeeds("auth_waits"));
        await repository.save(settledNow, version);
        expect((await repository.find(authorizing.facts.id))?.payment.facts.actionUrl).toBeNull();
        expect((await repository.list(query)).data).toEqual([]);
      });

      it("a payment repository keeps the earlier end that the gateway told of, and finds the authorization lapsed by it", async () => {
        const authorizing = authorizingPayment();
        const { version } = await repository.save(authorizing, "new");
        const end = after(MINUTE_MS);
        await repository.save(
          settled(restored(authorizing.facts), { ...succeeds("auth_1"), expiresAt: end }),
          version,
        );
        expect((await repository.find(authorizing.facts.id))?.payment.facts.expiresAt).toEqual(end);
        expect(await repository.lapsedAuthorizations(end, 10)).toEqual([
          { paymentId: authorizing.facts.id, expiresAt: end },
        ]);
        const [shortened] = (await repository.events(authorizing.facts.id))!.slice(-1);
        expect(shortened).toMatchObject({
          type: "payment.expiry_shortened",
          data: { wanted: after(WEEK_MS).toISOString(), expiresAt: end.toISOString() },
        });
      });

      it.each([
        ["as ISO 4217 has it", "HUF", 2],
        ["as an earlier edition had it", "HUF", 0],
        ["of a currency that has been withdrawn", "BGN", 2],
        ["that nobody knows", "DEM", null],
      ])("a payment repository gives back an amount's exponent %s: %s, %p", async (_, currency, exponent) => {
        const amount = { amount: 1_000_000n, currency: currency as Currency, exponent };
        const payment = forged(authorizedPayment(), { amount });
        const { version } = await repository.save(payment, "new");
        const read = async () => (await repository.find(payment.facts.id))?.payment.facts.amount;
        expect(await read()).toEqual(amount);
        await repository.save(capturingPayment(restored(payment.facts)), version);
        expect(await read()).toEqual(amount);
        const { data } = await repository.list({ merchant: acme, limit: 1 });
        expect(data.map(({ facts }) => facts.amount)).toEqual([amount]);
      });

      it("a payment repository gives back movements that others made, and disputes, as they were and as they are", async () => {
        const payment = restored(authorizedPayment().facts);
        const { version } = await repository.save(payment, "new");
        const seen: GatewayPicture = {
          authorization: "captured",
          authorizedUntil: null,
          captured: { reference: "ch_1", amount: 900n, operationId: null },
          cancellation: null,
          refunds: [{ reference: "re_1", amount: 200n, operationId: null, state: "succeeded", reason: null }],
          disputes: [
            { id: "du_1", status: "needs_response", amount: 900n, reason: "a 'word' ☃", dueBy: after(7) },
          ],
        };
        const pictured = observePicture(payment, seen, step(after(5)));
        const next = await repository.save(pictured, version);
        const read = async () => (await repository.find(payment.facts.id))?.payment.facts;
        expect(await read()).toEqual(pictured.facts);
        expect((await read())?.operations.map(({ origin }) => origin)).toEqual([
          "holdfast",
          "gateway",
          "gateway",
        ]);
        const [disputed] = seen.disputes;
        const won = { ...disputed!, status: "won", dueBy: null } as const;
        const later = observePicture(next.payment, { ...seen, disputes: [won] }, step(after(6)));
        await repository.save(later, next.version);
        expect((await read())?.disputes).toEqual([won]);
        const { data } = await repository.list({ merchant: acme, limit: 1 });
        expect(data[0]?.facts).toEqual(later.facts);
      });

      it("a payment repository gives back every field of every operation", async () => {
        const capturing = capturingPayment();
        const failed = settled(capturing, { outcome: "authorization_gone", reason: "reauthorize" });
        const released = settled(failed, declines("busy"), after(7));
        await saved(released);
        expect((await repository.find(released.facts.id))?.payment.facts.operations).toEqual(
          released.facts.operations,
        );
      });

      describe.each(Object.keys(progress) as (keyof OperationProgress)[])("writes %s", (field) => {
        it.each(progress[field].map((value) => [value]))("as %s over what was there", async (value) => {
          const before = withRefund();
          const { version } = await repository.save(before, "new");
          const changed = withRefund(before, { [field]: value });
          await repository.save(changed, version);
          expect((await repository.find(changed.facts.id))?.payment.facts.operations).toEqual(
            changed.facts.operations,
          );
        });
      });

      it.each(Object.keys(otherBond) as (keyof typeof otherBond)[])(
        "a payment repository never changes the %s that an operation began with",
        async (field) => {
          const before = withRefund();
          const { version } = await repository.save(before, "new");
          await repository.save(withRefund(before, { [field]: otherBond[field] }), version);
          expect((await repository.find(before.facts.id))?.payment.facts.operations).toEqual(
            before.facts.operations,
          );
        },
      );

      it("a payment repository keeps operations in the order in which they began, across saves", async () => {
        const capturing = capturingPayment();
        const failed = settled(restored(capturing.facts), declines());
        const again = settled(capturingPayment(restored(failed.facts)), succeeds("cap_2"));
        await saved(capturing, failed, again);
        const found = (await repository.find(again.facts.id))?.payment.facts.operations;
        expect(found?.map(({ kind, status }) => `${kind} ${status}`)).toEqual([
          "authorize succeeded",
          "capture failed",
          "capture succeeded",
        ]);
      });

      it("a payment repository writes one operation that closes and one that opens in the same save", async () => {
        const capturing = capturingPayment();
        const gone = settled(restored(capturing.facts), { outcome: "authorization_gone", reason: "gone" });
        await saved(capturing, gone);
        expect((await repository.find(gone.facts.id))?.payment.facts).toEqual(gone.facts);
      });

      it("a payment repository writes an earlier operation that opens again when a later one closes", async () => {
        const declined = settled(capturingPayment(), declines());
        const second = capturingPayment(restored(declined.facts));
        const [, first] = second.facts.operations;
        const contradicted = settle(restored(second.facts), first!.id, succeeds("cap_late"), step(after(1)));
        const closed = settled(restored(contradicted.facts), declines(), after(2));
        expect(closed.facts.operations.map(({ status }) => status)).toEqual([
          "succeeded",
          "needs_review",
          "failed",
        ]);
        await saved(second, contradicted, closed);
        expect((await repository.find(closed.facts.id))?.payment.facts).toEqual(closed.facts);
      });

      it("a payment repository resolves a save with what is stored now: the next version and no events waiting", async () => {
        const payment = authorizedPayment();
        const first = await repository.save(payment, "new");
        expect(first.payment.newEvents).toEqual([]);
        expect(first.payment.facts).toEqual(payment.facts);
        const second = await repository.save(capturingPayment(first.payment), first.version);
        expect(second.version).toBe(first.version + 1);
        expect(await repository.find(payment.facts.id)).toEqual(second);
      });

      it("a payment repository has no payment where none was written", async () => {
        expect(await repository.find(parsePaymentId(randomUUID()))).toBeNull();
        expect(await repository.events(parsePaymentId(randomUUID()))).toBeNull();
        expect(await repository.findByOperation(newOperationId())).toBeNull();
      });

      it("a payment repository finds a payment by each of its operations, and by its merchant's authorize key", async () => {
        const payment = capturingPayment(authorizedPayment({ key: "order-1" }));
        await saved(payment);
        for (const { id } of payment.facts.operations) {
          expect(await repository.findByOperation(id)).toBe(payment.facts.id);
        }
        const { idempotencyKey } = payment.facts.operations[0]!;
        expect(await repository.findByAuthorizeKey(acme, idempotencyKey!)).toBe(payment.facts.id);
        expect(await repository.findByAuthorizeKey(parseMerchantId("other"), idempotencyKey!)).toBeNull();
        const captureKey = payment.facts.operations[1]!.idempotencyKey!;
        expect(await repository.findByAuthorizeKey(acme, captureKey)).toBeNull();
      });

      it("a payment repository finds a payment by what the gateway calls its authorization, once that is known", async () => {
        const authorizing = await repository.save(authorizingPayment(), "new");
        const reference = `pi_${randomUUID()}`;
        expect(await repository.findByAuthorization(reference)).toBeNull();
        const [operation] = authorizing.payment.facts.operations;
        const known = settle(authorizing.payment, operation!.id, succeeds(reference), step());
        await repository.save(known, authorizing.version);
        expect(await repository.findByAuthorization(reference)).toBe(known.facts.id);
      });
    });

    describe("at one version", () => {
      it("a payment repository refuses a write that expects an older version", async () => {
        const payment = authorizedPayment();
        const { version } = await repository.save(payment, "new");
        const capturing = capturingPayment(restored(payment.facts));
        await repository.save(settled(capturing, declines()), version);
        await expect(repository.save(capturing, version)).rejects.toMatchObject({
          code: "version_conflict",
          paymentId: payment.facts.id,
        });
      });

      it.each([2, 0, 7])(
        "a payment repository refuses a write that expects version %p of a payment at version 1",
        async (other) => {
          const payment = authorizedPayment();
          await repository.save(payment, "new");
          await expect(
            repository.save(capturingPayment(restored(payment.facts)), other),
          ).rejects.toBeInstanceOf(VersionConflictError);
        },
      );

      it("a payment repository refuses to write a payment as new that is there, or as known that is not", async () => {
        const payment = authorizedPayment();
        await repository.save(payment, "new");
        await expect(repository.save(payment, "new")).rejects.toBeInstanceOf(VersionConflictError);
        await expect(repository.save(authorizedPayment(), 1)).rejects.toBeInstanceOf(VersionConflictError);
      });

      it("a payment repository lets exactly one of many writers of the same version through", async () => {
        const payment = authorizedPayment();
        const { version } = await repository.save(payment, "new");
        const writers = Array.from({ length: 20 }, () =>
          repository.save(capturingPayment(restored(payment.facts)), version),
        );
        const results = await Promise.allSettled(writers);
        expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        for (const result of results) {
          if (result.status === "rejected") expect(result.reason).toBeInstanceOf(VersionConflictError);
        }
      });

      it("a payment repository lets exactly one of many new payments with the same authorize key through", async () => {
        const results = await Promise.allSettled(
          Array.from({ length: 20 }, () => repository.save(authorizingPayment({ key: "order-1" }), "new")),
        );
        expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        for (const result of results) {
          if (result.status === "rejected") expect(result.reason).toBeInstanceOf(DuplicateKeyError);
        }
      });

      it("a payment repository lets two merchants use the same authorize key", async () => {
        await repository.save(authorizingPayment({ key: "order-1" }), "new");
        await repository.save(authorizingPayment({ key: "order-1", merchant: "other" }), "new");
        expect((await repository.list({ merchant: acme, limit: 10 })).data).toHaveLength(1);
      });

      it("a payment repository writes nothing of a payment that it refuses", async () => {
        const payment = authorizedPayment();
        const { version } = await repository.save(payment, "new");
        const winner = capturingPayment(restored(payment.facts));
        await repository.save(winner, version);
        const loser = settled(capturingPayment(restored(payment.facts)), {
          outcome: "authorization_gone",
          reason: "x",
        });
        await expect(repository.save(loser, version)).rejects.toBeInstanceOf(VersionConflictError);
        expect((await repository.find(payment.facts.id))?.payment.facts).toEqual(winner.facts);
        expect(await repository.events(payment.facts.id)).toHaveLength(winner.facts.eventCount);
        expect(await repository.findByOperation(loser.facts.operations[1]!.id)).toBeNull();
      });

      it("a payment repository writes an operation whose first save was refused when it is saved again", async () => {
        const other = authorizingPayment({ key: "order-1" });
        await repository.save(other, "new");
        const refused = authorizingPayment({ key: "order-1" });
        await expect(repository.save(refused, "new")).rejects.toBeInstanceOf(DuplicateKeyError);
        const moved = capturingPayment();
        await repository.save(restored(moved.facts), "new");
        const declined = settled(restored(moved.facts), declines());
        await expect(repository.save(declined, 7)).rejects.toBeInstanceOf(VersionConflictError);
        await repository.save(declined, 1);
        expect((await repository.find(moved.facts.id))?.payment.facts).toEqual(declined.facts);
      });
    });

    describe("with their history", () => {
      it("a payment repository keeps the events of each save, in sequence", async () => {
        const capturing = capturingPayment();
        const captured = settled(restored(capturing.facts), succeeds("cap_1"), after(20));
        await saved(capturing, captured);
        const events = await repository.events(captured.facts.id);
        expect(events).toEqual([...capturing.newEvents, ...captured.newEvents]);
        expect(events?.map(({ sequence }) => sequence)).toEqual(
          Array.from({ length: captured.facts.eventCount }, (_, at) => at + 1),
        );
      });

      it("a payment repository gives back what an event tells, nested facts and other scripts included", async () => {
        const trace = {
          lock: { waitedMs: 12, for: "pid 4711 – Büro" },
          list: [1, null, true],
          at: NOON.toISOString(),
        };
        const payment = authorizingPayment();
        const traced = settle(payment, payment.facts.operations[0]!.id, declines(), step(NOON, trace));
        await saved(traced);
        expect((await repository.events(traced.facts.id))?.at(-1)?.data).toMatchObject(trace);
      });
    });

    describe("with their history, page by page", () => {
      it("a payment repository gives all events once and in order, whatever the size of the pages", async () => {
        const payment = capturedPayment();
        await saved(payment);
        const all = (await repository.events(payment.facts.id))!;
        for (const limit of [1, 2, all.length - 1, all.length, 1_000]) {
          const read: PaymentEvent[] = [];
          let cursor: string | null | undefined;
          do {
            const query = typeof cursor === "string" ? { limit, cursor } : { limit };
            const page = (await repository.eventPage(payment.facts.id, query))!;
            expect(page.data.length).toBeLessThanOrEqual(limit);
            read.push(...page.data);
            cursor = page.nextCursor;
          } while (cursor !== null && read.length <= all.length);
          expect(read).toEqual(all);
        }
      });

      it("a payment repository has none of a payment that is not there, and refuses a cursor that it did not make", async () => {
        expect(await repository.eventPage(parsePaymentId(randomUUID()), { limit: 1 })).toBeNull();
        const payment = capturedPayment();
        await saved(payment);
        await expect(repository.eventPage(payment.facts.id, { limit: 1, cursor: "made-up" })).rejects.toThrow(
          InvalidCursorError,
        );
      });
    });

    describe("for those who list them", () => {
      it("a payment repository lists a merchant's payments, the newest first, and nobody else's", async () => {
        const [first, second, third] = [0, 2, 1].map((minutes) =>
          authorizedPayment({ createdAt: after(minutes * MINUTE_MS) }),
        ) as [Payment, Payment, Payment];
        await saved(first);
        await saved(second);
        await saved(third);
        await saved(authorizedPayment({ merchant: "other" }));
        const { data, nextCursor } = await repository.list({ merchant: acme, limit: 10 });
        expect(data.map(({ facts }) => facts.id)).toEqual([second.facts.id, third.facts.id, first.facts.id]);
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
          seen.push(...page.data.map(({ facts }) => facts.id));
          cursor = page.nextCursor ?? undefined;
          pages += 1;
        } while (cursor !== undefined);
        expect(seen).toEqual(
          payments
            .map(({ facts }) => facts.id as string)
            .sort()
            .reverse(),
        );
        expect(pages).toBe(3);
      });

      it("a payment repository has no next page where the last one is exactly full", async () => {
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
          expect([status, data.map(({ facts }) => facts.id)]).toEqual([status, [payment.facts.id]]);
        }
        expect((await repository.list({ merchant: acme, limit: 10, status: "lost" })).data).toEqual([]);
      });

      it("a payment repository follows the status from save to save", async () => {
        const capturing = capturingPayment();
        const version = await saved(capturing);
        await repository.save(settled(restored(capturing.facts), declines()), version);
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
          (await repository.list({ merchant: acme, limit: 10, ...query })).data.map(({ facts: { id } }) =>
            payments.findIndex((p) => p.facts.id === id),
          );
        expect(await ids({ reference: "order-0" })).toEqual([2, 0]);
        expect(await ids({ createdFrom: after(MINUTE_MS) })).toEqual([2, 1]);
        expect(await ids({ createdTo: after(MINUTE_MS) })).toEqual([0]);
        expect(
          await ids({ createdFrom: after(1), createdTo: after(2 * MINUTE_MS), reference: "order-1" }),
        ).toEqual([1]);
      });

      it("a payment repository lists payments of all merchants for those who may look at all", async () => {
        const theirs = authorizedPayment({ merchant: "other", createdAt: after(MINUTE_MS) });
        const ours = authorizedPayment({ reference: "order-1" });
        await saved(theirs);
        await saved(ours);
        const ids = async (query: object) =>
          (await repository.list({ merchant: null, limit: 10, ...query })).data.map(({ facts }) => facts.id);
        expect(await ids({})).toEqual([theirs.facts.id, ours.facts.id]);
        expect(await ids({ reference: "order-1" })).toEqual([ours.facts.id]);
        expect(await ids({ status: "captured" })).toEqual([]);
        const { nextCursor } = await repository.list({ merchant: null, limit: 1 });
        expect(await ids({ cursor: nextCursor })).toEqual([ours.facts.id]);
      });

      it("filters by the amount that was authorized, in its currency", async () => {
        const ours = authorizedPayment({ amount: 1_250n });
        await saved(ours);
        await saved(authorizedPayment({ amount: 1_250n, currency: "USD" }));
        await saved(authorizedPayment({ amount: 1_251n }));
        const theirs = authorizedPayment({ amount: 1_250n, merchant: "other" });
        await saved(theirs);
        const ids = async (merchant: typeof acme | null) =>
          (
            await repository.list({ merchant, limit: 10, amount: { amount: 1_250n, currency: "EUR" } })
          ).data.map(({ facts }) => facts.id);
        expect(await ids(acme)).toEqual([ours.facts.id]);
        expect((await ids(null)).sort()).toEqual([ours.facts.id, theirs.facts.id].sort());
      });

      it("a payment repository finds payments by what the gateway calls the authorization, or a movement", async () => {
        const reserved = authorizedPayment({ authorizationReference: "pi_reserved" });
        const taken = capturedPayment();
        await saved(reserved);
        await saved(taken);
        const reference = taken.facts.operations.find(({ kind }) => kind === "capture")!.gatewayReference!;
        expect(await repository.findByGatewayReference("pi_reserved", 10)).toEqual([reserved.facts.id]);
        expect(await repository.findByGatewayReference(reference, 10)).toContain(taken.facts.id);
        expect(await repository.findByGatewayReference("pi_nowhere", 10)).toEqual([]);
      });

      it("a payment repository gives the unknown operations, the oldest first, of a merchant or of all", async () => {
        const begun = (minutes: number, merchant = "acme") =>
          capturingPayment(authorizedPayment({ createdAt: after(minutes * MINUTE_MS), merchant }));
        const [late, early, theirs] = [begun(2), begun(1), begun(3, "other")] as const;
        for (const payment of [late, early, theirs])
          await saved(
            stillUnknown(payment, openOperation(payment).id, "silence", step(payment.facts.createdAt)),
          );
        await saved(begun(0));
        const ids = (found: readonly { readonly paymentId: string }[]) => found.map((one) => one.paymentId);
        const oldestFirst = [early, late, theirs].map(({ facts }) => facts.id);
        expect(ids(await repository.unknownOperations(acme, 10))).toEqual(oldestFirst.slice(0, 2));
        expect(ids(await repository.unknownOperations(acme, 1))).toEqual(oldestFirst.slice(0, 1));
        const all = await repository.unknownOperations(null, 10);
        expect(ids(all).sort()).toEqual([...oldestFirst].sort());
        expect(all.map(({ kind, currency }) => [kind, currency])).toEqual(Array(3).fill(["capture", "EUR"]));
      });

      it("a payment repository refuses a cursor that somebody has written on", async () => {
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
        "a payment repository refuses %j as a cursor",
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
      it("a payment repository gives the operations that are due, the longest due first", async () => {
        const late = capturingPayment(authorizedPayment({ createdAt: after(-MINUTE_MS) }));
        const later = capturingPayment();
        const finished = capturedPayment();
        const future = capturingPayment(authorizedPayment({ createdAt: after(6_000) }));
        for (const payment of [later, finished, future, late]) await saved(payment);
        const due = await repository.dueOperations(after(10_000), 10);
        expect(due).toEqual(
          [late, later].map((payment) => ({
            paymentId: payment.facts.id,
            operationId: openOperation(payment).id,
            dueAt: openOperation(payment).dueAt,
          })),
        );
      });

      it("a payment repository takes an operation for due at its very instant, and not a millisecond before", async () => {
        const payment = capturingPayment();
        await saved(payment);
        const dueAt = openOperation(payment).dueAt!;
        expect(await repository.dueOperations(after(-1, dueAt), 10)).toEqual([]);
        expect(await repository.dueOperations(dueAt, 10)).toHaveLength(1);
      });

      describe.each([
        ["due in twenty days, which no schedule reaches", { dueAt: after(20 * DAY_MS) }, true],
        ["due in a day", { dueAt: after(DAY_MS) }, false],
        ["sent in an hour, and never asked about", { firstSentAt: after(3_600_000) }, true],
        ["sent in a second", { firstSentAt: after(1_000) }, false],
        ["asked about in an hour", { askedAt: after(3_600_000) }, true],
        ["asked about in a second", { askedAt: after(1_000) }, false],
        ["sent in an hour, but asked about since", { firstSentAt: after(3_600_000), askedAt: NOON }, false],
        ["begun in an hour, and never sent", { firstSentAt: null, createdAt: after(3_600_000) }, true],
        ["settled, whatever its times", { status: "failed", dueAt: null, askedAt: after(DAY_MS) }, false],
      ] as const)("by a clock that was wrong: an operation that is %s", (_what, times, isDue) => {
        it(isDue ? "is due now" : "is not due yet", async () => {
          const payment = capturingPayment();
          const [authorize, capture] = payment.facts.operations;
          const operation = { ...capture!, firstSentAt: NOON, dueAt: after(MINUTE_MS), ...times };
          await saved(forged(payment, { operations: [authorize!, operation] }));
          const due = await repository.dueOperations(NOON, 10);
          expect(due.map(({ operationId }) => operationId)).toEqual(isDue ? [operation.id] : []);
        });
      });

      it("a payment repository goes on after the last due operation it gave, also within one instant", async () => {
        const payments = Array.from({ length: 5 }, () => capturingPayment());
        for (const payment of payments) await saved(payment);
        const first = await repository.dueOperations(after(MINUTE_MS), 2);
        const second = await repository.dueOperations(after(MINUTE_MS), 2, first[1]);
        const third = await repository.dueOperations(after(MINUTE_MS), 2, second[1]);
        const ids = [...first, ...second, ...third].map(({ operationId }) => operationId);
        expect(ids).toEqual(payments.map((payment) => openOperation(payment).id).sort());
      });

      it("a payment repository takes what waits for a person for due when its next question is, and never where there is none", async () => {
        const asked = inReview(capturingPayment());
        await saved(asked);
        const [authorize, capture] = inReview(capturingPayment()).facts.operations;
        const decides = forged(asked, { id: parsePaymentId(randomUUID()), authorizationReference: null });
        const notAsked = [authorize!, { ...capture!, conflicted: true, dueAt: null }].map((operation) => ({
          ...operation,
          paymentId: decides.facts.id,
        }));
        await saved(forged(decides, { operations: notAsked }));
        const { id: operationId, dueAt } = openOperation(asked);
        expect(await repository.dueOperations(after(-1, dueAt!), 10)).toEqual([]);
        expect(await repository.dueOperations(after(WEEK_MS), 10)).toEqual([
          { paymentId: asked.facts.id, operationId, dueAt },
        ]);
      });

      it("a payment repository gives authorizations that have ended with nothing open, the oldest first", async () => {
        const one = authorizedPayment({ expiresAt: after(2 * MINUTE_MS) });
        const two = authorizedPayment({ expiresAt: after(MINUTE_MS) });
        const open = capturingPayment(authorizedPayment({ expiresAt: after(MINUTE_MS) }));
        const asked = inReview(capturingPayment(authorizedPayment({ expiresAt: after(MINUTE_MS) })));
        const captured = capturedPayment(authorizedPayment({ expiresAt: after(MINUTE_MS) }));
        const living = authorizedPayment({ expiresAt: after(9 * MINUTE_MS) });
        for (const payment of [one, two, open, asked, captured, living]) await saved(payment);
        const lapsed = await repository.lapsedAuthorizations(after(2 * MINUTE_MS), 10);
        expect(lapsed).toEqual(
          [two, one].map(({ facts: { id, expiresAt } }) => ({ paymentId: id, expiresAt })),
        );
        expect(await repository.lapsedAuthorizations(after(2 * MINUTE_MS), 10, lapsed[0])).toEqual([
          lapsed[1],
        ]);
        expect(await repository.lapsedAuthorizations(after(2 * MINUTE_MS - 1), 10)).toEqual([lapsed[0]]);
      });

      it("a payment repository gives what waits for a person, the oldest first, page by page", async () => {
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
            paymentId: payment.facts.id,
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

    it("a payment repository answers a ping", async () => {
      await expect(repository.ping()).resolves.toBeUndefined();
    });

    it("a payment repository says at a ping that it cannot write, though nobody writes, and that it can again", async () => {
      const { refuseWrites } = harness;
      if (refuseWrites === undefined) return;
      await repository.ping();
      const allow = await refuseWrites();
      await soon(() => expect(repository.ping()).rejects.toMatchObject({ reason: "read_only" }));
      await expect(saved(authorizedPayment())).rejects.toBeInstanceOf(StoreUnavailableError);
      await allow();
      await soon(() => expect(repository.ping()).resolves.toBeUndefined());
      await expect(saved(authorizedPayment())).resolves.toBeDefined();
    });

    it("a payment repository is not taken for one that cannot write when it refuses a write of somebody's", async () => {
      const payment = authorizedPayment();
      await saved(payment);
      await expect(repository.save(payment, "new")).rejects.toBeInstanceOf(VersionConflictError);
      await expect(repository.ping()).resolves.toBeUndefined();
    });
  });
}
