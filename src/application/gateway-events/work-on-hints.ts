import type { Clock } from "../ports/clock";
import type { ClaimedHint, HintStore } from "../ports/gateway-events/hint-store";
import type { IdGenerator } from "../ports/id-generator";
import type { FollowHint } from "./follow-hint";
import { STOP_WITHIN_MS, type HintLimits } from "./hint-limits";
import type { HintObserver, HintOutcome } from "./hint-observer";
import { nextTry } from "./hint-schedule";

export interface HintWorkParts {
  readonly store: HintStore;
  readonly followHint: Pick<FollowHint, "execute">;
  readonly clock: Clock;
  /** For what lasts, whatever the clocks say. */
  readonly monotonicMs: () => number;
  readonly ids: IdGenerator;
  readonly observer: HintObserver;
  readonly limits: HintLimits;
}

/**
 * Follows hints, as long as it runs: takes what is due as far as there are places, and looks again when one was received
 * here, when a place is free, and after a while in any case, because other instances are not heard. A hint that is followed
 * twice, because its loan ended, does no harm: it only asks.
 */
export class WorkOnHints {
  private readonly owner: string;
  private readonly underway = new Set<Promise<void>>();
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;
  private wake: (() => void) | undefined;
  private isWoken = false;
  private tendedAtMs = -Infinity;

  constructor(private readonly parts: HintWorkParts) {
    this.owner = parts.ids.nextId();
  }

  start(): void {
    this.running ??= this.loop(this.stopping.signal);
  }

  /** There is something new. */
  readonly nudge = (): void => {
    this.isWoken = true;
    this.wake?.();
  };

  /** What is under way is waited for, but not for long; what is left then is there for others when its loan ends. */
  async stop(withinMs = STOP_WITHIN_MS): Promise<void> {
    this.stopping.abort();
    this.nudge();
    await this.running;
    const patience = new AbortController();
    const ended = Promise.all(this.underway).then(() => patience.abort());
    await Promise.race([ended, pause(withinMs, (wake) => onAbort(patience.signal, wake))]);
  }

  /** Everything that is due now, for a world whose time stands still. Resolves with how many hints were followed. */
  async drain(): Promise<number> {
    for (let followed = 0; ;) {
      followed += await this.take();
      if (this.underway.size === 0) return followed;
      await Promise.race(this.underway);
    }
  }

  private async loop(signal: AbortSignal): Promise<void> {
    const { observer, limits } = this.parts;
    while (!signal.aborted) {
      this.isWoken = false;
      try {
        await this.take();
        await this.tend();
      } catch (error) {
        observer.failed(error);
      }
      if (this.wasWoken()) continue;
      await pause(limits.pollMs, (wake) => {
        this.wake = wake;
      });
      this.wake = undefined;
    }
  }

  private wasWoken(): boolean {
    return this.isWoken;
  }

  private async take(): Promise<number> {
    const { store, clock, limits } = this.parts;
    const limit = limits.inAll - this.underway.size;
    if (limit <= 0) return 0;
    const { owner } = this;
    const claimed = await store.claim({ owner, leaseMs: limits.leaseMs, now: clock.now(), limit });
    for (const hint of claimed) {
      const work: Promise<void> = this.work(hint).finally(() => {
        this.underway.delete(work);
        this.nudge();
      });
      this.underway.add(work);
    }
    return claimed.length;
  }

  /** Never rejects. What is not written down is due again when the loan ends. */
  private async work(hint: ClaimedHint): Promise<void> {
    const { store, clock, limits, observer } = this.parts;
    const outcome = await this.follow(hint);
    observer.worked(outcome, hint.reference);
    const isOver = outcome === "done" || outcome === "foreign";
    const next = isOver ? null : nextTry(hint, outcome, clock.now(), limits);
    try {
      await store.settle(this.owner, hint, next);
      if (next !== null) this.nudgeAt(next.dueAt);
      else if (!isOver) observer.dropped(hint.reference);
    } catch (error) {
      observer.failed(error);
    }
  }

  /** What is due before the next look is not to wait for it. A timer may be over before the clock says so: asked again. */
  private nudgeAt(dueAt: Date): void {
    const { clock, limits } = this.parts;
    const inMs = dueAt.getTime() - clock.now().getTime();
    if (inMs <= 0) this.nudge();
    else if (inMs < limits.pollMs && !this.stopping.signal.aborted)
      setTimeout(() => this.nudgeAt(dueAt), inMs + 1).unref();
  }

  private async follow(hint: ClaimedHint): Promise<HintOutcome> {
    try {
      return await this.parts.followHint.execute(hint);
    } catch (error) {
      this.parts.observer.failed(error);
      return "unanswered";
    }
  }

  private async tend(): Promise<void> {
    const { store, clock, limits, observer } = this.parts;
    if (this.parts.monotonicMs() - this.tendedAtMs < limits.tendMs) return;
    this.tendedAtMs = this.parts.monotonicMs();
    const seenBefore = new Date(clock.now().getTime() - limits.seenMs);
    const dropped = await store.tend({ seenBefore, mostHints: limits.mostHints, limit: limits.batch });
    if (dropped > 0) observer.droppedBeyondLimit(dropped);
  }
}

/** Until the time is over, or somebody wakes it. */
function pause(ms: number, wakeable: (wake: () => void) => void): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(over, ms);
    wakeable(over);
  });
}

function onAbort(signal: AbortSignal, wake: () => void): void {
  if (signal.aborted) wake();
  else signal.addEventListener("abort", wake, { once: true });
}
