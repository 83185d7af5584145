import { LockReentrancyError } from "../../../application/ports/lock-errors";
import type { HandoffLock } from "../../../application/ports/handoff-lock";
import type { LockHappening } from "../../../application/ports/lock-observer";
import type { LockHold, LockOptions } from "../../../application/ports/lock-provider";
import { announce } from "../hold/announce";
import { lend, type Hold } from "../hold/lend";
import { minimumHoldMs, restOfHoldMs } from "../hold/minimum-hold";
import type { Tenure } from "../lock-backend";
import { lockSettings, type LockProviderSettings, type LockSettings } from "../lock-settings";
import { Bid } from "../line/bid";
import { Line } from "../line/line";
import { Wait } from "../line/wait";
import { acquireTenure } from "../line/acquire-tenure";
import type { LeaseClient } from "./lease-client";
import { LeaseLockBackend } from "./lease-lock-backend";

interface Held {
  readonly tenure: Tenure;
  readonly hold: Hold;
  readonly options: LockOptions;
  readonly sinceMs: number;
}

/**
 * Excludes: everyone on the same record store, for as long as its owner likes, until another process asks for the resource.
 * Survives: what a lease survives; a waiter that died is told of once and forgotten by the record after half a minute.
 * Not for: short sections of many callers; there `withLock` of the same leases stands in line and retries.
 */
export class HandoffLease implements HandoffLock {
  private readonly settings: LockSettings;
  private readonly bid: Bid;
  private readonly releaseRequestedHandlers: (() => void)[] = [];
  private readonly lostHandlers: ((reason: string) => void)[] = [];
  private isAcquiring = false;
  private held: Held | undefined;
  private cancelCleanUp: () => void = () => undefined;
  /** What was given up and is still being taken out of the record: the next acquisition comes after it. */
  private aftermath: Promise<void> = Promise.resolve();

  constructor(
    private readonly resourceId: string,
    private readonly client: LeaseClient,
    settings: LockProviderSettings = {},
    adapter = "lease",
  ) {
    const { clock, random } = client.environment;
    this.settings = lockSettings(adapter, { clock, random, ...settings });
    const backend = new LeaseLockBackend(adapter, client, (tenure) =>
      tenure.begin(
        {
          onRenewed: () => this.tell({ type: "renewed" }),
          onWaiter: () => this.onWaiter(),
          onLost: (reason) => this.onTenureLost(reason),
        },
        true,
      ),
    );
    this.bid = new Bid(backend, resourceId);
  }

  async acquire(options: Omit<LockOptions, "permits"> = {}): Promise<LockHold> {
    minimumHoldMs(options);
    // What was lost is over for its owner, too, as soon as it asks again.
    if (this.held?.tenure.lost.aborted === true) void this.release();
    if (this.isAcquiring || this.held !== undefined)
      throw new LockReentrancyError(this.resourceId, [this.resourceId]);
    const wait = new Wait(this.resourceId, options, this.settings);
    // A line of one: more than one acquisition at a time is refused as re-entry.
    const line = new Line(this.resourceId);
    const leave = this.client.waiting(wait);
    this.isAcquiring = true;
    try {
      wait.check();
      // Counted from here: whatever is still being taken out of the record is part of the wait.
      wait.arm(line);
      line.failure = new Error("what was held before has not been given back yet");
      await wait.orGivenUp<void>((resolve) => {
        void this.aftermath.then(resolve);
        return () => undefined;
      });
      line.failure = undefined;
      return this.entered(await acquireTenure(wait, line, this.bid, true), wait);
    } catch (error) {
      this.leaveBehind(this.retreat());
      throw error;
    } finally {
      leave();
      this.isAcquiring = false;
    }
  }

  release(): Promise<void> {
    const { held } = this;
    if (held !== undefined) {
      this.cancelCleanUp();
      const { tenure, hold, options, sinceMs } = held;
      const untilMs = sinceMs + minimumHoldMs(options);
      // Whoever was asked for the lock early gives it up early, and the record keeps the one that asked waiting.
      const restMs = restOfHoldMs(options, untilMs, this.settings.clock.monotonicMs(), tenure.lost);
      const isKept = restMs > 0 && tenure.leaveFor !== undefined;
      if (isKept) this.tell({ type: "kept", forMs: restMs });
      this.tell({ type: "released" });
      this.held = undefined;
      hold.end();
      this.leaveBehind((isKept ? tenure.leaveFor?.(restMs) : undefined) ?? tenure.release());
    }
    return this.aftermath;
  }

  onReleaseRequested(handler: () => void): void {
    this.releaseRequestedHandlers.push(handler);
  }

  onLost(handler: (reason: string) => void): void {
    this.lostHandlers.push(handler);
  }

  private entered(tenure: Tenure, wait: Wait): LockHold {
    const { clock } = this.settings;
    const { options } = wait;
    const { fencingToken } = tenure;
    const { resourceId } = this;
    const { purpose } = options;
    const hold = lend({
      lender: this,
      resourceId,
      fencingToken,
      sinceMs: clock.wallMs(),
      purpose,
      wait,
      tenure,
    });
    const sinceMs = clock.monotonicMs();
    this.held = { tenure, hold, options, sinceMs };
    announce(
      wait,
      { type: "acquired", fencingToken, contended: wait.wasContended },
      { elapsedMs: wait.elapsedMs },
    );
    return hold;
  }

  private leaveBehind(work: Promise<void>): void {
    this.aftermath = this.client.cleaning(Promise.all([this.aftermath, work]).then(() => undefined));
  }

  /** The attempt under way is waited for: it may yet acquire a lock that no caller came to take. */
  private async retreat(): Promise<void> {
    await this.bid.quiet();
    await this.bid.withdraw();
  }

  private onWaiter(): void {
    if (this.held === undefined) return;
    this.tell({ type: "handoff_requested" });
    for (const handler of this.releaseRequestedHandlers) callApart(handler);
  }

  private onTenureLost(reason: string): void {
    if (this.held === undefined) return;
    this.tell({ type: "lost", reason });
    // The record is left alone for a moment, in which the owner may stop what it is doing: until then it keeps others out.
    const { marginMs } = this.client.settings;
    this.cancelCleanUp = this.settings.clock.after(marginMs, () => void this.release());
    for (const handler of this.lostHandlers) callApart(() => handler(reason));
  }

  private tell(happening: LockHappening): void {
    const { held, resourceId, settings } = this;
    if (held === undefined) return;
    const elapsedMs = settings.clock.monotonicMs() - held.sinceMs;
    announce({ resourceId, settings, options: held.options }, happening, { elapsedMs });
  }
}

/** A handler's failure is its author's to see, and no reason to stop renewing. */
function callApart(handler: () => void): void {
  try {
    handler();
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
