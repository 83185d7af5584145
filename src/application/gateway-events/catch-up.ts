import { inParallel } from "../background/in-parallel";
import type { PassReport } from "../background/background-pass";
import type { MerchantAccountStore } from "../ports/accounts/merchant-account-store";
import type { Clock } from "../ports/clock";
import { GatewayUnavailableError, type GatewayEventList } from "../ports/gateway-events/gateway-event-source";
import type { HintStore } from "../ports/gateway-events/hint-store";
import { cursorOf, placeOf } from "./catch-up-cursor";
import type { CatchUpLimits } from "./hint-limits";
import type { HintObserver } from "./hint-observer";

export interface CatchUpParts {
  readonly events: GatewayEventList;
  readonly store: Pick<HintStore, "receive" | "beginCatchUp" | "caughtUpTo" | "caughtUp">;
  /** Accounts that have a list of their own, beside the common one; left out where there are none. */
  readonly accounts?: Pick<MerchantAccountStore, "known"> | undefined;
  readonly clock: Clock;
  readonly observer: Pick<HintObserver, "received" | "failed">;
  readonly limits: CatchUpLimits;
  /** There is something to work on. */
  readonly onAccepted: () => void;
}

/** What one page of the gateway's own list came to. */
export interface CaughtUpPage {
  /** Whose list it is; null: the common account's. */
  readonly account: string | null;
  readonly events: number;
  /** Events that were not known. */
  readonly accepted: number;
  readonly newestAt: Date | null;
  /** Null on the last page of the list; of an operator's reading, of the last list. */
  readonly next: string | null;
  /** Why the account's list could not be read; the reading goes on with the next account. */
  readonly unread?: string;
}

interface Reading {
  readonly account: string | null;
  readonly since: Date;
  /** Where it stands now. */
  readonly caughtUpTo: Date | null;
}

/** Reads the gateway's own lists of events, for what was sent to nobody, or to a server that was down. */
export class CatchUp {
  constructor(private readonly parts: CatchUpParts) {}

  /**
   * Each list from where the last reading of it ended, with some overlap, if it is time. Where it ends is only moved once
   * everything was received, so whatever interrupts it is made good by the next one. An account whose list cannot be read
   * keeps no other from being read; that the common one cannot is what it rejects with, once all were tried.
   */
  async execute(everyMs: number, signal?: AbortSignal): Promise<PassReport> {
    const { store, clock, observer, limits } = this.parts;
    const begun = await store.beginCatchUp(clock.now(), everyMs);
    if (begun === null) return { done: 0, skipped: 0, failed: 0 };
    const report = { done: 0, skipped: 0, failed: 0 };
    const failures: unknown[] = [];
    const read = async (reading: Reading) => {
      report.done += await this.read(reading, signal);
    };
    const since = this.beginning(begun.caughtUpTo, clock.now().getTime() - limits.firstMs);
    await read({ account: null, since, caughtUpTo: begun.caughtUpTo }).catch((error) => failures.push(error));
    const known = (await this.parts.accounts?.known()) ?? [];
    await inParallel(known, limits.listsAtOnce, async ({ account, since: knownSince }) => {
      if (signal?.aborted === true) return;
      try {
        const caughtUpTo = await store.caughtUpTo(account);
        await read({ account, since: this.beginning(caughtUpTo, knownSince.getTime()), caughtUpTo });
      } catch (error) {
        report.failed += 1;
        observer.failed(error);
      }
    });
    if (failures.length > 0) throw failures[0];
    return report;
  }

  /**
   * One page of what happened since, for an operator, one account's list after the other: moves nothing that `execute` goes
   * by. Rejects if the common account's list cannot be read.
   */
  async page(since: Date, cursor: string | null): Promise<CaughtUpPage> {
    const { account, after } = placeOf(cursor);
    const page = await this.pageOf(account, since, after).catch((error: unknown): CaughtUpPage => {
      if (account === null || !(error instanceof GatewayUnavailableError)) throw error;
      return { account, events: 0, accepted: 0, newestAt: null, next: null, unread: error.message };
    });
    if (page.next !== null) return { ...page, next: cursorOf({ account, after: page.next }) };
    const known = (await this.parts.accounts?.known()) ?? [];
    const following = known.find((one) => account === null || one.account > account);
    return {
      ...page,
      next: following === undefined ? null : cursorOf({ account: following.account, after: null }),
    };
  }

  /** A list as far as it goes. Resolves with how many events were not known. */
  private async read({ account, since, caughtUpTo }: Reading, signal?: AbortSignal): Promise<number> {
    let newestAt = caughtUpTo;
    let accepted = 0;
    for (let after: string | null = null; ;) {
      const page: CaughtUpPage = await this.pageOf(account, since, after);
      accepted += page.accepted;
      // The first page has the newest: what happens from now on is the next one's.
      newestAt = after === null ? (page.newestAt ?? newestAt) : newestAt;
      after = page.next;
      if (after === null) break;
      if (signal?.aborted === true) return accepted;
    }
    // Before the first event there is none to go by but the time at which there was none.
    await this.parts.store.caughtUp(newestAt ?? since, account ?? undefined);
    return accepted;
  }

  private async pageOf(account: string | null, since: Date, after: string | null): Promise<CaughtUpPage> {
    const { events, store, clock, observer, limits, onAccepted } = this.parts;
    const inAccount = account === null ? {} : { account };
    const page = await events.page({ ...inAccount, since, after, timeoutMs: limits.pageMs });
    const hints = page.hints.map((hint) => ({ ...hint, ...inAccount }));
    const accepted = hints.length === 0 ? 0 : await store.receive(hints, clock.now());
    observer.received("list", "accepted", accepted);
    observer.received("list", "duplicate", hints.length - accepted);
    observer.received("list", "ignored", page.events - hints.length);
    if (accepted > 0) onAccepted();
    return { account, events: page.events, accepted, newestAt: page.newestAt, next: page.next };
  }

  private beginning(caughtUpTo: Date | null, firstMs: number): Date {
    const { clock, limits, events } = this.parts;
    const fromMs = (caughtUpTo?.getTime() ?? firstMs) - (caughtUpTo === null ? 0 : limits.overlapMs);
    return new Date(Math.max(fromMs, clock.now().getTime() - events.keptForMs));
  }
}
