import { setTimeout as delay } from "node:timers/promises";
import type { Container } from "inversify";
import { BackgroundWork } from "../../../application/background/background-work";
import type { SnapshotStore } from "../../../application/ports/snapshot-store";
import { sandboxResourceId } from "../../../application/sandboxes/sandbox-ids";
import { sandboxLimits } from "../../../application/sandboxes/sandbox-limits";
import { Sandboxes } from "../../../application/sandboxes/sandboxes";
import type { SnapshotsSetting } from "../../configuration/adapter-urls";
import {
  adviseLocks,
  isNetwork,
  kindOf,
  lockKinds,
  type LockSetting,
} from "../../configuration/lock-catalogue";
import { DataDirectoryLock } from "../../locking/file/data-directory-lock";
import { LeaseLockProvider, type LeaseLockOptions } from "../../locking/lease/lease-lock-provider";
import { MemoryLeaseRecordStore } from "../../locking/lease/memory/memory-lease-record-store";
import type { LeaseSettings } from "../../locking/lease/protocol/lease-settings";
import { systemLockClock } from "../../locking/lock-clock";
import type { OpenLeases } from "../../locking/lock-kind";
import { SimulatedWorlds, type SandboxWebhooks } from "../../sandboxes/simulated-worlds";
import { DirectorySnapshotStore } from "../../snapshots/directory-snapshot-store";
import { GcsSnapshotStore } from "../../snapshots/gcs-snapshot-store";
import { sandboxLog } from "../../telemetry/sandbox-log";
import { tokens } from "../container/tokens";
import { Closers } from "./closers";
import { unusable } from "./unusable";

export interface OpenSandboxes {
  readonly sandboxes: Sandboxes;
  /** Checkpoints what has changed, and unloads what is not used, until `close`. */
  tend(): void;
  /** All are checkpointed and released. */
  close(): Promise<void>;
}

/** Renewed every third of it: a dead owner's sandbox is free within the 20 s that an attach waits. */
const SANDBOX_LEASE: Partial<LeaseSettings> = { ttlMs: 15_000 };
const TEND_EVERY_MS = 1_000;

/** Whether the sandboxes of this instance are owned in its memory, where no other instance sees it. */
export function isAlone(locks: LockSetting): boolean {
  return !isNetwork(lockKinds[locks.kind].reach);
}

/**
 * Sandboxes of this instance, owned under the same kind of lock as payments, but always by a lease: only that can be
 * asked for. Where payments are locked in this process or on this host alone, the leases are in its memory, and a file
 * lock keeps a second server off the snapshots.
 */
export async function openSandboxes(
  container: Container,
  ownUrl: () => string,
  webhooks: SandboxWebhooks,
  lease: Partial<LeaseSettings> = SANDBOX_LEASE,
): Promise<OpenSandboxes> {
  const { settings } = container.get(tokens.configuration);
  const logger = container.get(tokens.logger);
  const locks = {
    timeouts: container.get(tokens.lockTimeouts),
    observer: container.get(tokens.lockObserver),
  };
  const lockSetting = container.get(tokens.lockSetting);
  const closers = new Closers();
  try {
    const snapshotsSetting = settings.snapshots.value;
    if (isAlone(lockSetting) && snapshotsSetting.kind === "directory") {
      const held = await DataDirectoryLock.acquire(snapshotsSetting.directory, "serve", otherSnapshots());
      closers.add(() => held.release());
    }
    const snapshots = await openSnapshots(snapshotsSetting);
    const { leases, close } = await openLeases(lockSetting, { ...locks, lease });
    closers.add(close);
    const sandboxes = new Sandboxes({
      lockFactory: (id) => leases.handoffLock(sandboxResourceId(id)),
      snapshots,
      worlds: new SimulatedWorlds({
        maxPayments: settings.sandboxPayments.value,
        locks,
        webhooks,
        onError: (error) => logger.error({ err: error }, "a background pass in a sandbox failed"),
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
      onError: (_pass, error) => logger.error({ err: error }, "maintenance of sandboxes failed"),
    });
    closers.add(() => tending.stop());
    return { sandboxes, tend: () => tending.start(), close: () => closers.close() };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

const otherSnapshots = () =>
  "end that process first, give this one a snapshot directory of its own (--snapshots file:<dir>), or let several share " +
  `sandboxes with --locks ${adviseLocks(isNetwork)}`;

async function openSnapshots(setting: SnapshotsSetting): Promise<SnapshotStore> {
  if (setting.kind === "directory") return new DirectorySnapshotStore(setting.directory);
  const emulatorHost = process.env["STORAGE_EMULATOR_HOST"];
  const { bucket, prefix } = setting;
  const store = new GcsSnapshotStore({
    bucket,
    prefix: prefix === "" || prefix.endsWith("/") ? prefix : `${prefix}/`,
    ...(emulatorHost && { emulatorHost }),
  });
  await store.checkBucket().catch(unusable);
  return store;
}

async function openLeases(setting: LockSetting, options: LeaseLockOptions): Promise<OpenLeases> {
  const kind = kindOf(setting);
  if (kind.reach === "network") return kind.load().leases(setting, options).catch(unusable);
  const leases = new LeaseLockProvider(new MemoryLeaseRecordStore(), { ...options, adapter: "memory-lease" });
  return { leases, close: () => leases.close() };
}
