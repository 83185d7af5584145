import type { MerchantId } from "../../../domain/identifiers";
import type { Clock } from "../../ports/clock";
import type { HandoffLock } from "../../ports/handoff-lock";
import type { ResolvedLockTimeout } from "../../ports/lock-timeout";
import { ShuttingDownError } from "../../shutting-down-error";
import type { SnapshotStore } from "../../ports/snapshot-store";
import { ManifestRecord } from "../snapshots/manifest-record";
import { restoreSnapshot } from "../snapshots/restore-snapshot";
import { Sandbox } from "../sandbox";
import { sandboxLost, sandboxNotFound } from "../sandbox-errors";
import type { SandboxObserver } from "../sandbox-events";
import type { SandboxId } from "../sandbox-ids";
import type { SandboxLimits } from "../sandbox-limits";
import { SandboxOwnership } from "./sandbox-ownership";
import type { SandboxTimers } from "./sandbox-timers";
import type { SandboxWorld, SandboxWorlds } from "../world/sandbox-world";

export interface ArrivalParts {
  /** Long ownership of one sandbox. A new one is made for each attempt to own it. */
  readonly lockFactory: (sandboxId: SandboxId) => HandoffLock;
  readonly snapshots: SnapshotStore;
  readonly worlds: SandboxWorlds;
  readonly limits: SandboxLimits;
  readonly clock: Clock;
  readonly timers: SandboxTimers;
  readonly observer: SandboxObserver;
  /** Where this instance says that it is reached. */
  readonly ownUrl: () => string;
}

/** How a sandbox comes into this instance: owned, then made or restored, then begun; or not at all. */
export class SandboxArrivals {
  constructor(
    private readonly parts: ArrivalParts,
    private readonly stopping: AbortSignal,
    private readonly onGone: (sandbox: Sandbox) => void,
  ) {}

  /** `here` is told before anybody may ask for the sandbox. What was owned is released again if the rest fails. */
  async arrive(
    id: SandboxId,
    timeout: ResolvedLockTimeout | undefined,
    fill: (ownership: SandboxOwnership) => Promise<Sandbox>,
    here: (sandbox: Sandbox) => void,
  ): Promise<Sandbox> {
    const ownership = await this.own(id, timeout);
    try {
      const sandbox = await fill(ownership);
      const loss = ownership.loss();
      if (loss !== null) throw sandboxLost(id, loss);
      if (this.stopping.aborted) throw new ShuttingDownError();
      here(sandbox);
      sandbox.begin();
      return sandbox;
    } catch (error) {
      await ownership.release();
      throw error;
    }
  }

  own(id: SandboxId, timeout: ResolvedLockTimeout | undefined): Promise<SandboxOwnership> {
    const { lockFactory, clock } = this.parts;
    if (this.stopping.aborted) return Promise.reject(new ShuttingDownError());
    return SandboxOwnership.take(
      lockFactory(id),
      (lock) =>
        lock.acquire({
          scope: "sandbox",
          purpose: "sandbox",
          signal: this.stopping,
          ...(timeout === undefined ? {} : { timeout }),
        }),
      () => clock.now(),
    );
  }

  /** The manifest carries our fence before anything is served: a late owner's checkpoint finds it, and is refused. */
  async restored(id: SandboxId, ownership: SandboxOwnership): Promise<Sandbox> {
    const { snapshots, worlds, ownUrl } = this.parts;
    const manifest = await ManifestRecord.read(snapshots, id);
    if (manifest === null) throw sandboxNotFound(id);
    await manifest.claim(ownership.fence, ownUrl());
    const world = await restoreSnapshot(snapshots, worlds, manifest.current);
    const sandbox = this.sandbox(id, ownership, manifest, world, true);
    sandbox.history.tell("attached");
    return sandbox;
  }

  /** There is a snapshot before there is a manifest that names it, so whoever finds the one has the other. */
  async firstOf(
    id: SandboxId,
    merchant: MerchantId,
    world: SandboxWorld,
    ownership: SandboxOwnership,
  ): Promise<Sandbox> {
    const { snapshots, clock, ownUrl } = this.parts;
    const manifest = ManifestRecord.fresh(snapshots, {
      sandboxId: id,
      merchant,
      createdAt: clock.now(),
      fence: ownership.fence,
      ownerUrl: ownUrl(),
      snapshot: null,
      previous: null,
      kept: [],
    });
    const sandbox = this.sandbox(id, ownership, manifest, world, false);
    await sandbox.saveFirst();
    sandbox.history.tell("created");
    return sandbox;
  }

  private sandbox(
    id: SandboxId,
    ownership: SandboxOwnership,
    manifest: ManifestRecord,
    world: SandboxWorld,
    isSaved: boolean,
  ): Sandbox {
    const { snapshots, limits, timers, clock, observer } = this.parts;
    const { onGone } = this;
    return new Sandbox(
      { id, ownership, manifest, world, snapshots, limits, timers, clock, observer, onGone },
      isSaved,
    );
  }
}
