import { LockUnavailableError, type LockError } from "../../../application/ports/lock-errors";
import { Ending } from "./tenure/ending";
import { LeasePermits } from "./lease-permits";
import { LeaseBid } from "./tenure/lease-bid";
import { systemLeaseEnvironment, type LeaseEnvironment } from "./protocol/lease-environment";
import type { LeaseRecordStore } from "./protocol/lease-record-store";
import { leaseSettings, type LeaseSettings } from "./protocol/lease-settings";
import type { LeaseTenure } from "./tenure/lease-tenure";
import { RecordMemory } from "./protocol/record-memory";
import { TenureRequests, type LeaseSurroundings } from "./tenure/tenure-requests";

export interface LeaseClientOptions {
  readonly settings?: Partial<LeaseSettings>;
  readonly environment?: LeaseEnvironment;
}

/** What `close` ends: somebody who waits for a lock. */
export interface ClosableWait {
  readonly resourceId: string;
  giveUp(verdict: LockError): void;
}

/**
 * This process's part in all leases of one record store: what it has seen, which tenures it holds, and what it is still
 * cleaning up. One per process and store, because what is seen for one call serves the next.
 */
export class LeaseClient {
  protected readonly surroundings: LeaseSurroundings;
  private readonly tenures = new Set<LeaseTenure>();
  private readonly cleaners = new Set<Promise<unknown>>();
  private readonly waits = new Set<ClosableWait>();
  readonly permits = new LeasePermits((recordId) => this.requestsOf(recordId));
  private cancelEnding: (() => void) | undefined;

  constructor(store: LeaseRecordStore, options: LeaseClientOptions = {}) {
    const settings = leaseSettings(options.settings);
    const environment = options.environment ?? systemLeaseEnvironment;
    this.surroundings = {
      ...environment,
      store,
      settings,
      memory: this.remember(settings),
      ending: new Ending(),
    };
  }

  get settings(): LeaseSettings {
    return this.surroundings.settings;
  }

  get environment(): LeaseEnvironment {
    return this.surroundings;
  }

  /** A new bid for this record, under an id that was never used before. */
  bidFor(resourceId: string): LeaseBid {
    return new LeaseBid(this.requestsOf(resourceId));
  }

  /** Calls back when the store hears of a release, where it can; returns how to stop listening. */
  onReleased(resourceId: string, wake: () => void): () => void {
    return this.surroundings.store.onReleased?.(resourceId, wake) ?? (() => {});
  }

  /** Throws when the client is closed; returns how to leave, which `close` waits for. */
  waiting(wait: ClosableWait): () => void {
    if (this.cancelEnding !== undefined) throw closedError(wait.resourceId);
    this.waits.add(wait);
    let left = (): void => {};
    void this.cleaning(new Promise<void>((resolve) => (left = resolve)));
    return () => {
      this.waits.delete(wait);
      left();
    };
  }

  /** Counts it among what `close` ends. */
  hold(tenure: LeaseTenure): void {
    this.tenures.add(tenure);
  }

  release(tenure: LeaseTenure): Promise<void> {
    this.tenures.delete(tenure);
    return this.cleaning(tenure.release());
  }

  /** As `release`, but its record keeps others out for that much longer. */
  leave(tenure: LeaseTenure, restMs: number): Promise<void> {
    this.tenures.delete(tenure);
    return this.cleaning(tenure.leaveFor(restMs));
  }

  /** Makes `close` wait for it. */
  cleaning<T>(work: Promise<T>): Promise<T> {
    this.cleaners.add(work);
    const done = (): void => void this.cleaners.delete(work);
    work.then(done, done);
    return work;
  }

  /** Tells those who wait. What is under way from here on has `closeMs`, and then ends where it is. */
  beginToClose(): void {
    if (this.cancelEnding !== undefined) return;
    const { clock, settings, ending } = this.surroundings;
    this.cancelEnding = clock.after(settings.closeMs, () => ending.call());
    for (const wait of this.waits) wait.giveUp(closedError(wait.resourceId));
  }

  /**
   * Stops renewing what is still held, and says so to its owners: their leases then end by themselves, and not before
   * the owners could notice. Resolves when everything that was given up is out of its record, or counts as dead, and
   * after `closeMs` at the latest: what is not confirmed by then ends by its lease.
   */
  async close(): Promise<void> {
    this.beginToClose();
    for (const tenure of this.tenures) tenure.revoke("its lock provider was closed");
    while (this.cleaners.size > 0) await Promise.allSettled(this.cleaners);
    this.cancelEnding?.();
    this.surroundings.ending.call();
  }

  private requestsOf(resourceId: string): TenureRequests {
    const { host, pid, nonce } = this.surroundings;
    return this.requests(resourceId, `${host}:${pid}:${nonce()}`);
  }

  protected remember(settings: LeaseSettings): RecordMemory {
    return new RecordMemory(settings);
  }

  protected requests(resourceId: string, ownerId: string): TenureRequests {
    return new TenureRequests(resourceId, ownerId, this.surroundings);
  }
}

function closedError(resourceId: string): LockUnavailableError {
  return new LockUnavailableError(resourceId, "the provider is closed");
}
