import { randomUUID } from "node:crypto";
import type { GatewayHint } from "../../../src/application/ports/gateway-events/gateway-hint";
import type {
  ClaimedHint,
  HintClaim,
  HintStore,
} from "../../../src/application/ports/gateway-events/hint-store";
import { parsePaymentId } from "../../../src/domain/identifiers";
import { after, NOON } from "../../support/worlds/payments";

export interface HintStoreHarness {
  readonly store: HintStore;
  /** The same store as another process has it; undefined where no other process can. */
  readonly elsewhere?: HintStore;
  close(): Promise<void>;
}

const LEASE_MS = 60_000;
const MANY = 100;
const SOME_PAYMENT = parsePaymentId(randomUUID());
let events = 0;

/** What every store of hints promises, in the words of the port. */
export function describeHintStore(name: string, make: () => Promise<HintStoreHarness>): void {
  describe(`${name} keeps hints`, () => {
    let harness: HintStoreHarness;
    let store: HintStore;
    let elsewhere: HintStore;
    beforeEach(async () => {
      harness = await make();
      ({ store } = harness);
      elsewhere = harness.elsewhere ?? store;
    });
    afterEach(() => harness.close());

    const claim = (wish: Partial<HintClaim> = {}, from = store) =>
      from.claim({ owner: "here", leaseMs: LEASE_MS, now: NOON, limit: MANY, ...wish });
    const only = async (wish: Partial<HintClaim> = {}, from = store): Promise<ClaimedHint> => {
      const claimed = await claim(wish, from);
      expect(claimed).toHaveLength(1);
      return claimed[0]!;
    };

    describe("an event", () => {
      it("becomes a hint about its authorization that is due at once", async () => {
        expect(await store.receive([hint("pi_1", { labelled: SOME_PAYMENT })], NOON)).toBe(1);
        expect(await claim({ now: after(-1) })).toEqual([]);
        expect(await only({}, elsewhere)).toEqual({
          reference: "pi_1",
          labelled: SOME_PAYMENT,
          revision: 1,
          receivedAt: NOON,
          attempts: 0,
        });
      });

      it("is taken once, however often and wherever it comes, also after it was worked on", async () => {
        const one = hint("pi_1");
        const receptions = [store, elsewhere, store, elsewhere].map((at) => at.receive([one, one], NOON));
        expect((await Promise.all(receptions)).sort()).toEqual([0, 0, 0, 1]);
        await store.settle("here", await only(), null);
        expect(await elsewhere.receive([one], after(1))).toBe(0);
        expect(await claim({ now: after(1) })).toEqual([]);
      });

      it("is taken again once its id was forgotten", async () => {
        const one = hint("pi_1");
        await store.receive([one], NOON);
        await store.tend({ seenBefore: NOON, mostHints: MANY, limit: MANY });
        expect(await store.receive([one], NOON)).toBe(0);
        await store.tend({ seenBefore: after(1), mostHints: MANY, limit: MANY });
        expect(await store.receive([one], NOON)).toBe(1);
      });

      it("is one of many that come at once, of which each authorization has one hint", async () => {
        const sent = ["pi_2", "pi_1", "pi_2", "pi_3"].map((reference) => hint(reference));
        expect(await store.receive([...sent, sent[0]!], NOON)).toBe(4);
        expect((await claim()).map(({ reference }) => reference).sort()).toEqual(["pi_1", "pi_2", "pi_3"]);
        expect(await store.receive([], NOON)).toBe(0);
      });

      it("from two instances about the same authorizations in different orders arrives from both", async () => {
        const references = Array.from({ length: 50 }, (_, n) => `pi_${n}`);
        const batches = Array.from({ length: 8 }, (_, n) => {
          const batch = references.map((reference) => hint(reference));
          return n % 2 === 0 ? batch : batch.reverse();
        });
        const taken = await Promise.all(
          batches.map((batch, n) => (n % 2 === 0 ? store : elsewhere).receive(batch, NOON)),
        );
        expect(taken).toEqual(batches.map(() => 50));
        expect(await claim({ limit: 1_000 })).toHaveLength(50);
      });

      it("without a label keeps the label of one before, and one with another label replaces it", async () => {
        await store.receive([hint("pi_1", { labelled: SOME_PAYMENT }), hint("pi_1")], NOON);
        await store.receive([hint("pi_1")], NOON);
        const first = await only();
        expect(first.labelled).toBe(SOME_PAYMENT);
        await store.settle("here", first, { dueAt: NOON, attempts: 1 });
        const another = parsePaymentId(randomUUID());
        await store.receive([hint("pi_1", { labelled: another })], NOON);
        expect((await only()).labelled).toBe(another);
      });
    });

    describe("a loan", () => {
      it("is one owner's: nobody else gets the hint while it lasts", async () => {
        await store.receive([hint("pi_1"), hint("pi_2")], NOON);
        const claims = await Promise.all([
          claim({ limit: 1 }),
          claim({ owner: "there", limit: 1 }, elsewhere),
          claim({ owner: "there", limit: 1 }, elsewhere),
        ]);
        const references = claims.flat().map(({ reference }) => reference);
        expect(new Set(references).size).toBe(references.length);
        await claim({ owner: "there" }, elsewhere);
        expect(await claim({ now: after(LEASE_MS * 10) })).toEqual([]);
      });

      it("that has ended lets another owner in, and the former one settles nothing any more", async () => {
        await store.receive([hint("pi_1")], NOON);
        const lost = await only({ leaseMs: 0 });
        const taken = await only({ owner: "there" }, elsewhere);
        await store.settle("here", lost, null);
        await store.settle("here", lost, { dueAt: after(1_000), attempts: 5 });
        expect((await store.backlog()).waiting).toBe(1);
        await elsewhere.settle("there", taken, { dueAt: after(1), attempts: 1 });
        expect(await only({ now: after(1) })).toMatchObject({ attempts: 1 });
      });

      it("is of what is due longest, and of no more than is wanted", async () => {
        await store.receive([hint("pi_1")], after(2));
        await store.receive([hint("pi_2")], after(1));
        await store.receive([hint("pi_3")], after(3));
        const claimed = await claim({ now: after(3), limit: 2 });
        expect(claimed.map(({ reference }) => reference).sort()).toEqual(["pi_1", "pi_2"]);
      });
    });

    describe("a hint that was worked on", () => {
      it("is gone", async () => {
        await store.receive([hint("pi_1")], NOON);
        await store.settle("here", await only(), null);
        expect(await store.backlog()).toEqual({ waiting: 0, oldestAt: null });
      });

      it("is tried again at its time, and counts how often it was", async () => {
        await store.receive([hint("pi_1")], NOON);
        await store.settle("here", await only(), { dueAt: after(1_000), attempts: 3 });
        expect(await claim({ now: after(999) })).toEqual([]);
        expect(await only({ now: after(1_000) }, elsewhere)).toMatchObject({ attempts: 3, receivedAt: NOON });
      });

      it("stays, due at once and by nobody's loan, if there was another event meanwhile", async () => {
        for (const next of [null, { dueAt: after(1_000_000), attempts: 7 }]) {
          await store.receive([hint("pi_1")], NOON);
          const claimed = await only();
          await elsewhere.receive([hint("pi_1")], after(5));
          expect(await claim({ now: after(5) })).toEqual([]);
          await store.settle("here", claimed, next);
          const renewed = await only({ now: after(5), owner: "there" }, elsewhere);
          expect(renewed).toMatchObject({ receivedAt: after(5), attempts: 0 });
          expect(renewed.revision).toBeGreaterThan(claimed.revision);
          await elsewhere.settle("there", renewed, null);
          expect((await store.backlog()).waiting).toBe(0);
        }
      });
    });

    describe("what is kept", () => {
      it("is counted, with the time of the oldest", async () => {
        await store.receive([hint("pi_1")], after(1));
        await store.receive([hint("pi_2")], NOON);
        expect(await elsewhere.backlog()).toEqual({ waiting: 2, oldestAt: NOON });
      });

      it("is no more than the limit: the oldest are dropped, so many at a time", async () => {
        for (let n = 0; n < 5; n += 1) await store.receive([hint(`pi_${n}`)], after(n));
        const tend = (mostHints: number, limit: number) =>
          store.tend({ seenBefore: after(-1), mostHints, limit });
        expect(await tend(5, MANY)).toBe(0);
        expect(await tend(2, 1)).toBe(1);
        expect(await tend(2, MANY)).toBe(2);
        const left = await claim({ now: after(5) });
        expect(left.map(({ reference }) => reference).sort()).toEqual(["pi_3", "pi_4"]);
      });

      it("of ids that are forgotten is so many at a time", async () => {
        const sent = ["pi_1", "pi_2", "pi_3"].map((reference) => hint(reference));
        await store.receive(sent, NOON);
        await store.tend({ seenBefore: after(1), mostHints: MANY, limit: 2 });
        expect(await store.receive(sent, NOON)).toBe(2);
      });
    });

    describe("an account", () => {
      it("has hints and events of its own, whatever another account calls so", async () => {
        const common = hint("pi_1");
        const inAcme = { ...common, account: "acct_acme", labelled: SOME_PAYMENT };
        const inZoo = { ...common, account: "acct_zoo" };
        expect(await store.receive([common, inAcme, inZoo], NOON)).toBe(3);
        expect(await elsewhere.receive([inAcme, inZoo, common], NOON)).toBe(0);
        const claimed = await claim();
        expect(claimed.map(({ account, labelled }) => [account, labelled]).sort()).toEqual(
          [
            [undefined, null],
            ["acct_acme", SOME_PAYMENT],
            ["acct_zoo", null],
          ].sort(),
        );
        for (const one of claimed)
          await store.settle("here", one, one.account === "acct_acme" ? { dueAt: NOON, attempts: 1 } : null);
        expect(await only()).toMatchObject({ account: "acct_acme", reference: "pi_1", attempts: 1 });
      });

      it("that has a new event keeps what others were told of the same authorization as it was", async () => {
        await store.receive([hint("pi_1")], NOON);
        const lent = await only();
        await elsewhere.receive([{ ...hint("pi_1"), account: "acct_acme" }], after(1));
        await store.settle("here", lent, null);
        const left = await only({ now: after(1) });
        expect(left).toMatchObject({ account: "acct_acme", revision: 1 });
      });

      it("is dropped and forgotten with the others", async () => {
        for (let n = 0; n < 3; n += 1)
          await store.receive([{ ...hint("pi_1"), account: `acct_${n}` }], after(n));
        expect(await store.tend({ seenBefore: after(9), mostHints: 1, limit: MANY })).toBe(2);
        expect(await only({ now: after(9) })).toMatchObject({ account: "acct_2" });
      });

      it("is caught up with as far as its own list was read", async () => {
        await store.caughtUp(after(1_000), "acct_acme");
        expect(await elsewhere.caughtUpTo("acct_acme")).toEqual(after(1_000));
        await elsewhere.caughtUp(NOON, "acct_acme");
        expect(await store.caughtUpTo("acct_acme")).toEqual(after(1_000));
        expect(await store.caughtUpTo("acct_zoo")).toBeNull();
        expect(await store.beginCatchUp(NOON, 1)).toEqual({ caughtUpTo: null });
        await store.caughtUp(after(5));
        expect(await store.caughtUpTo("acct_acme")).toEqual(after(1_000));
        expect(await store.beginCatchUp(after(10), 1)).toEqual({ caughtUpTo: after(5) });
      });
    });

    describe("catching up", () => {
      it("is begun by one instance, and by none before the interval is over", async () => {
        const at = [store, elsewhere, store, elsewhere];
        const begun = await Promise.all(at.map((one) => one.beginCatchUp(NOON, 300_000)));
        expect(begun.filter((one) => one !== null)).toEqual([{ caughtUpTo: null }]);
        expect(await elsewhere.beginCatchUp(after(299_999), 300_000)).toBeNull();
        expect(await elsewhere.beginCatchUp(after(300_000), 300_000)).not.toBeNull();
      });

      it("is begun at once where it was begun in the future: a clock was wrong", async () => {
        await store.beginCatchUp(after(86_400_000), 300_000);
        expect(await store.beginCatchUp(NOON, 300_000)).not.toBeNull();
      });

      it("goes on where it has ended, and never back", async () => {
        await store.caughtUp(after(1_000));
        await elsewhere.caughtUp(NOON);
        expect(await elsewhere.beginCatchUp(NOON, 1)).toEqual({ caughtUpTo: after(1_000) });
        await store.caughtUp(after(2_000));
        expect(await store.beginCatchUp(after(1), 1)).toEqual({ caughtUpTo: after(2_000) });
      });
    });
  });
}

function hint(reference: string, change: Partial<GatewayHint> = {}): GatewayHint {
  return { eventId: `evt_${(events += 1)}`, reference, labelled: null, ...change };
}
