import { setTimeout as delay } from "node:timers/promises";
import { BackgroundWork } from "../../application/operations/background-work";
import type { HandoffLock } from "../../application/ports/handoff-lock";
import type { SnapshotStore } from "../../application/ports/snapshot-store";
import { sandboxResourceId } from "../../application/sandboxes/sandbox-ids";
import { sandboxLimits } from "../../application/sandboxes/sandbox-limits";
import { Sandboxes } from "../../application/sandboxes/sandboxes";
import type { LocksBackendSetting, SnapshotsSetting } from "../configuration/adapter-urls";
import type { Configuration } from "../configuration/configuration";
import { DataDirectoryLock } from "../locking/file/data-directory-lock";
import { GcsLeaseLockProvider } from "../locking/lease/gcs-lease-lock-provider";
import { LeaseLockProvider, type LeaseLockProviderOptions } from "../locking/lease/lease-lock-provider";
import type { LeaseSettings } from "../locking/lease/lease-settings";
import { MemoryLeaseRecordStore } from "../locking/lease/memory-lease-record-store";
import { PostgresLeaseRecordStore } from "../locking/lease/postgres-lease-record-store";
import { RedisLeaseLockProvider } from "../locking/lease/redis-lease-lock-provider";
import { systemLockClock } from "../locking/lock-clock";
import { SimulatedWorlds } from "../sandboxes/simulated-worlds";
import { DirectorySnapshotStore } from "../snapshots/directory-snapshot-store";
import { GcsSnapshotStore } from "../snapshots/gcs-snapshot-store";
import { sandboxLog } from "../telemetry/sandbox-log";
import type { Application } from "./application";
import { Closers } from "./closers";
import { unusable } from "./open-locks";
import { tokens } from "./tokens";

export interface OpenSandboxes {
  readonly sandboxes: Sandboxes;
  /** A warning for whoever starts the server, where the configuration protects less than it seems to. */
  readonly warning: string | null;
  /** Checkpoints what has changed, and unloads what nobody uses, until `close`. */
  tend(): void;
  /** All are checkpointed and released. */
  close(): Promise<void>;
}

/** Renewed every third of it: a dead owner's sandbox is free within the 20 s that an attach waits. */
const SANDBOX_LEASE: Partial<LeaseSettings> = { ttlMs: 15_000 };

/**
 * Sandboxes of this instance, owned under the same kind of lock as payments, but always by a lease: only that can be
 * asked for. Where payments are locked in this process or on this host alone, the leases are in its memory, and a file
 * lock keeps a second server off the snapshots.
 */
export async function openSandboxes(
  { settings }: Configuration,
  { container, locks }: Pick<Application, "container" | "locks">,
  ownUrl: () => string,
  lease: Partial<LeaseSettings> = SANDBOX_LEASE,
): Promise<OpenSandboxes> {
  const closers = new Closers();
  try {
    const logger = container.get(tokens.logger);
    const alone = isAlone(locks);
    const setting = settings.snapshots.value;
    if (alone && setting.kind === "directory") {
      const held = await DataDirectoryLock.acquire(setting.directory, "serve", OTHER_SNAPSHOTS);
      closers.add(() => held.release());
    }
    const snapshots = await openSnapshots(setting);
    const handoffLocks = await openHandoffLocks(
      locks,
      { timeouts: container.get(tokens.lockTimeouts), lease, observer: container.get(tokens.lockObserver) },
      closers,
    );
    const sandboxes = new Sandboxes({
      lockFactory: (id) => handoffLocks(sandboxResourceId(id)),
      snapshots,
      worlds: new SimulatedWorlds({
        maxPayments: settings.sandboxPayments.value,
        locks: { timeouts: container.get(tokens.lockTimeouts), observer: container.get(tokens.lockObserver) },
        onError: (error) => logger.error({ err: error }, "a pass in a sandbox failed"),
      }),
      limits: {
        ...sandboxLimits,
        sandboxes: settings.sandboxLimit.value,
        idleMs: settings.sandboxIdle.value * 1_000,
      },
      clock: container.get(tokens.clock),
      timers: systemLockClock,
      ids: container.get(tokens.ids),
      observer: sandboxLog(logger),
      ownUrl,
    });
    closers.add(() => sandboxes.close());
    const tending = new BackgroundWork({
      passes: [{ name: "sandboxes", run: () => sandboxes.tend() }],
      intervalMs: TEND_EVERY_MS,
      sleep: (ms, signal) => delay(ms, undefined, { signal }).catch(() => {}),
      onReport: () => {},
      onError: (_pass, error) => logger.error({ err: error }, "tending sandboxes failed"),
    });
    closers.add(() => tending.stop());
    const warning = alone && setting.kind === "gcs" ? ALONE_ON_A_BUCKET : null;
    return { sandboxes, warning, tend: () => tending.start(), close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

const TEND_EVERY_MS = 1_000;
const OTHER_SNAPSHOTS =
  "end that process first, give this one a snapshot directory of its own (--snapshots file:<dir>), or let several share " +
  "sandboxes with --locks postgres://…, redis://… or gs://…";
const ALONE_ON_A_BUCKET =
  "warning: sandboxes are owned by this process alone, but other instances may use the same snapshots: each would " +
  "take them from the other without asking. Set --locks to postgres:, redis://… or gs://… unless this is the only instance";

function isAlone({ kind }: LocksBackendSetting): boolean {
  return kind === "memory" || kind === "none" || kind === "file";
}

async function openSnapshots(setting: SnapshotsSetting): Promise<SnapshotStore> {
  if (setting.kind === "directory") return new DirectorySnapshotStore(setting.directory);
  const emulatorHost = process.env["STORAGE_EMULATOR_HOST"];
  const { bucket, prefix } = setting;
  const store = new GcsSnapshotStore({
    bucket,
    prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`,
    ...(emulatorHost === undefined || emulatorHost === "" ? {} : { emulatorHost }),
  });
  await store.checkBucket().catch(unusable);
  return store;
}

async function openHandoffLocks(
  setting: LocksBackendSetting,
  options: LeaseLockProviderOptions,
  closers: Closers,
): Promise<(resourceId: string) => HandoffLock> {
  const provider = await openLeases(setting, options, closers);
  closers.add(() => provider.close());
  return (resourceId) => provider.handoffLock(resourceId);
}

async function openLeases(
  setting: LocksBackendSetting,
  options: LeaseLockProviderOptions,
  closers: Closers,
): Promise<LeaseLockProvider> {
  switch (setting.kind) {
    case "memory":
    case "none":
    case "file":
      return new LeaseLockProvider(new MemoryLeaseRecordStore(), { ...options, adapter: "memory-lease" });
    case "gcs":
      return GcsLeaseLockProvider.open(setting, options).catch(unusable);
    case "redis":
      return new RedisLeaseLockProvider(setting.url, options);
    case "postgres": {
      const records = new PostgresLeaseRecordStore({ url: setting.url });
      closers.add(() => records.close());
      return new LeaseLockProvider(records, { ...options, adapter: "postgres-lease" });
    }
  }
}
