import type { PassReport } from "../background/background-pass";
import type { Clock } from "../ports/clock";
import type { GatewayEventList } from "../ports/gateway-events/gateway-event-source";
import type { HintStore } from "../ports/gateway-events/hint-store";
import type { CatchUpLimits } from "./hint-limits";
import type { HintObserver } from "./hint-observer";

export interface CatchUpParts {
  readonly events: GatewayEventList;
  readonly store: Pick<HintStore, "receive" | "beginCatchUp" | "caughtUp">;
  readonly clock: Clock;
  readonly observer: Pick<HintObserver, "received">;
  readonly limits: CatchUpLimits;
  /** There is something to work on. */
  readonly onAccepted: () => void;
}

/** What one page of the gateway's own list came to. */
export interface CaughtUpPage {
  readonly events: number;
  /** Events that were not known. */
  readonly accepted: number;
  readonly newestAt: Date | null;
  /** Null on the last page. */
  readonly next: string | null;
}

/** Reads the gateway's own list of events, for what was sent to nobody, or to a server that was down. */
export class CatchUp {
  constructor(private readonly parts: CatchUpParts) {}

  /**
   * From where the last one ended, with some overlap, if it is time. Where it ends is only moved once everything was
   * received, so whatever interrupts it is made good by the next one.
   */
  async execute(everyMs: number, signal?: AbortSignal): Promise<PassReport> {
    const { store, clock } = this.parts;
    const begun = await store.beginCatchUp(clock.now(), everyMs);
    if (begun === null) return { done: 0, skipped: 0, failed: 0 };
    const since = this.beginning(begun.caughtUpTo);
    let newestAt = begun.caughtUpTo;
    let accepted = 0;
    for (let after: string | null = null; ;) {
      const page: CaughtUpPage = await this.page(since, after);
      accepted += page.accepted;
      // The first page has the newest: what happens from now on is the next one's.
      newestAt = after === null ? (page.newestAt ?? newestAt) : newestAt;
      after = page.next;
      if (after === null) break;
      if (signal?.aborted === true) return { done: accepted, skipped: 0, failed: 0 };
    }
    // Before the first event there is none to go by but the time at which there was none.
    await store.caughtUp(newestAt ?? since);
    return { done: accepted, skipped: 0, failed: 0 };
  }

  /** One page of what happened since, for an operator: moves nothing that `execute` goes by. */
  async page(since: Date, after: string | null): Promise<CaughtUpPage> {
    const { events, store, clock, observer, limits, onAccepted } = this.parts;
    const page = await events.page({ since, after, timeoutMs: limits.pageMs });
    const accepted = page.hints.length === 0 ? 0 : await store.receive(page.hints, clock.now());
    observer.received("list", "accepted", accepted);
    observer.received("list", "duplicate", page.hints.length - accepted);
    observer.received("list", "ignored", page.events - page.hints.length);
    if (accepted > 0) onAccepted();
    return { events: page.events, accepted, newestAt: page.newestAt, next: page.next };
  }

  private beginning(caughtUpTo: Date | null): Date {
    const { clock, limits, events } = this.parts;
    const nowMs = clock.now().getTime();
    const fromMs = caughtUpTo === null ? nowMs - limits.firstMs : caughtUpTo.getTime() - limits.overlapMs;
    return new Date(Math.max(fromMs, nowMs - events.keptForMs));
  }
}
