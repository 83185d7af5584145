import type { NetworkLockKind } from "../../lock-kind";
import { LeaseLockInspector } from "../lease-lock-inspector";
import { RedisLeaseRecordStore } from "./redis-lease-record-store";
import { RedisLockProvider } from "./redis-lock-provider";

export const redisLockKind: NetworkLockKind<{ readonly url: string }> = {
  open({ url }, settings) {
    const provider = new RedisLockProvider(url, settings);
    return {
      provider,
      queues: provider,
      wasReached: () => provider.records.hasSent,
      probe: () => provider.records.probe(),
      keptWithoutUs: true,
      close: () => provider.close(),
    };
  },

  async inspect({ url }, audit) {
    const records = new RedisLeaseRecordStore({ url });
    const inspector = new LeaseLockInspector({
      records,
      where: (resourceId) => records.key(resourceId),
      now: () => new Date(),
      audit,
    });
    return { inspector, close: async () => records.close() };
  },

  async leases({ url }, options) {
    const leases = new RedisLockProvider(url, options);
    return { leases, close: () => leases.close() };
  },
};
