import { LeaseLockProvider, type LeaseLockOptions } from "../lease-lock-provider";
import { leaseSettings } from "../protocol/lease-settings";
import { RedisLeaseRecordStore } from "./redis-lease-record-store";
import type { RedisPlace } from "./redis-location";

export interface RedisLockOptions extends Omit<LeaseLockOptions, "adapter"> {
  /** Default: `holdfast:lock:`. */
  readonly keyPrefix?: string;
}

/**
 * Excludes: everyone on the same Redis and key prefix, from any machine.
 * Survives: a dead holder, after its lease; a stopped or restarted Redis, as far as it kept its data; clocks that disagree.
 * Not for: writes that nobody guards. A Redis that forgets (a restart without persistence, a failover, eviction) lends again.
 */
export class RedisLockProvider extends LeaseLockProvider {
  /** Where the leases are, for those who look at them from outside. */
  readonly records: RedisLeaseRecordStore;

  /**
   * `where`: a URL, or a client of ioredis that you have, from which everything is taken that says where Redis is and who
   * asks. Connects with the first lock, by connections of its own, which `close` ends; your client stays yours to close.
   */
  constructor(where: RedisPlace, options: RedisLockOptions = {}) {
    const { keyPrefix, ...others } = options;
    const records = new RedisLeaseRecordStore({
      url: where,
      requestTimeoutMs: leaseSettings(options.lease).requestTimeoutMs,
      ...(keyPrefix === undefined ? {} : { keyPrefix }),
    });
    super(records, { ...others, adapter: "redis" });
    this.records = records;
  }

  override async close(): Promise<void> {
    await super.close();
    this.records.close();
  }
}
