import { LeaseContender } from "./lease-contender";
import { systemLeaseEnvironment, type LeaseEnvironment } from "./lease-environment";
import type { LeaseRecordStore } from "./lease-record-store";
import { leaseSettings, type LeaseSettings } from "./lease-settings";
import type { LeaseTenure } from "./lease-tenure";
import { RecordMemory } from "./record-memory";
import { TenureRequests, type LeaseSurroundings } from "./tenure-requests";

export interface LeaseClientOptions {
  readonly settings?: Partial<LeaseSettings>;
  readonly environment?: LeaseEnvironment;
}

/**
 * This process's part in all leases of one record store: what it has seen, which tenures it holds, and what it is still
 * cleaning up. One per process and store, because what is seen for one call serves the next.
 */
export class LeaseClient {
  protected readonly surroundings: LeaseSurroundings;
  private readonly tenures = new Set<LeaseTenure>();
  private readonly cleaners = new Set<Promise<unknown>>();

  constructor(store: LeaseRecordStore, options: LeaseClientOptions = {}) {
    const settings = leaseSettings(options.settings);
    const environment = options.environment ?? systemLeaseEnvironment;
    this.surroundings = { ...environment, store, settings, memory: this.remember(settings) };
  }

  get settings(): LeaseSettings {
    return this.surroundings.settings;
  }

  get environment(): LeaseEnvironment {
    return this.surroundings;
  }

  /** A new place in the queue for this record, under an id that was never used before. */
  contend(resourceId: string): LeaseContender {
    const { host, pid, nonce } = this.surroundings;
    return new LeaseContender(this.requests(resourceId, `${host}:${pid}:${nonce()}`));
  }

  /** Calls back when the store hears of a release, where it can; returns how to stop listening. */
  onReleased(resourceId: string, wake: () => void): () => void {
    return this.surroundings.store.onReleased?.(resourceId, wake) ?? (() => {});
  }

  /** Counts it among what `close` ends. */
  hold(tenure: LeaseTenure): void {
    this.tenures.add(tenure);
  }

  release(tenure: LeaseTenure): Promise<void> {
    this.tenures.delete(tenure);
    return this.cleaning(tenure.release());
  }

  /** Makes `close` wait for it. */
  cleaning<T>(work: Promise<T>): Promise<T> {
    this.cleaners.add(work);
    const done = (): void => void this.cleaners.delete(work);
    work.then(done, done);
    return work;
  }

  /**
   * Stops renewing what is still held, and says so to its owners: their leases then end by themselves, and not before
   * the owners could notice. Resolves when everything that was given up is out of its record, or counts as dead.
   */
  async close(): Promise<void> {
    for (const tenure of this.tenures) tenure.revoke("its lock provider was closed");
    while (this.cleaners.size > 0) await Promise.allSettled(this.cleaners);
  }

  protected remember(settings: LeaseSettings): RecordMemory {
    return new RecordMemory(settings);
  }

  protected requests(resourceId: string, ownerId: string): TenureRequests {
    return new TenureRequests(resourceId, ownerId, this.surroundings);
  }
}
