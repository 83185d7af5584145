import type { GcsClient } from "../../../gcs/gcs-requests";
import { GcsLeaseRecordStore } from "./gcs-lease-record-store";
import { parseGcsLockLocation, type GcsLockLocation } from "../../../gcs/gcs-location";
import { LeaseLockProvider, type LeaseLockOptions } from "../lease-lock-provider";
import { leaseSettings } from "../protocol/lease-settings";

export interface GcsLockOptions extends Omit<LeaseLockOptions, "adapter"> {
  /** Another implementation of the storage API. Default: what `STORAGE_EMULATOR_HOST` says; else the real service. */
  readonly emulatorHost?: string;
  /**
   * A `Storage` of @google-cloud/storage: its endpoint and its credentials are taken, in place of what the environment
   * says. Requests are sent as the locks need it, and not as it is configured to.
   */
  readonly storage?: GcsClient;
}

/**
 * Excludes: everyone on the same bucket and prefix, on any machine that reaches Cloud Storage.
 * Survives: a dead holder, after its lease; lost, late and repeated requests; clocks that disagree by any amount.
 * Not for: hot keys. One object takes about one change per second, so one id is good for a hold every two seconds.
 */
export class GcsLockProvider extends LeaseLockProvider {
  /** Where the leases are, for those who look at them from outside. */
  readonly records: GcsLeaseRecordStore;

  /** `location` is `gs://bucket/prefix`, whole or in parts; a `RangeError` says what is wrong with it. Sends nothing yet. */
  constructor(location: string | GcsLockLocation, options: GcsLockOptions = {}) {
    const { emulatorHost = process.env["STORAGE_EMULATOR_HOST"], storage, ...others } = options;
    const records = new GcsLeaseRecordStore({
      ...parseGcsLockLocation(
        typeof location === "string" ? location : `gs://${location.bucket}/${location.prefix}`,
      ),
      requestTimeoutMs: leaseSettings(options.lease).requestTimeoutMs,
      storage,
      ...(emulatorHost === undefined || emulatorHost === "" ? {} : { emulatorHost }),
    });
    super(records, { ...others, adapter: "gcs" });
    this.records = records;
  }

  override async close(): Promise<void> {
    await super.close();
    this.records.close();
  }

  /** The same, after making sure that the bucket is there and open to us; rejects with `PermanentLeaseStoreError` if not. */
  static async open(...given: ConstructorParameters<typeof GcsLockProvider>): Promise<GcsLockProvider> {
    const provider = new GcsLockProvider(...given);
    await provider.records.checkBucket();
    return provider;
  }
}
