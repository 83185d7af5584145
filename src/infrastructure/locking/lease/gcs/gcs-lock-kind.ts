import type { GcsLockLocation } from "../../../gcs/gcs-location";
import type { NetworkLockKind } from "../../lock-kind";
import { LeaseLockInspector } from "../lease-lock-inspector";
import { GcsLockProvider } from "./gcs-lock-provider";

export const gcsLockKind: NetworkLockKind<GcsLockLocation> = {
  open(location, settings) {
    const provider = new GcsLockProvider(location, settings);
    return {
      provider,
      queues: provider,
      probe: () => provider.records.checkBucket(),
      // A bucket is there for good or not at all.
      isThereFromTheStart: true,
      keptWithoutUs: true,
      close: () => provider.close(),
    };
  },

  async inspect({ bucket, prefix }, audit) {
    const location = `gs://${bucket}/${prefix}`;
    const provider = await GcsLockProvider.open(location);
    const inspector = new LeaseLockInspector({
      records: provider.records,
      where: (resourceId) => `${location} ${resourceId}`,
      now: () => new Date(),
      audit,
    });
    return { inspector, close: () => provider.close() };
  },

  async leases(location, options) {
    const leases = await GcsLockProvider.open(location, options);
    return { leases, close: () => leases.close() };
  },
};
