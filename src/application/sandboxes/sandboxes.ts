import type { MerchantId } from "../../domain/identifiers";
import type { PassReport } from "../operations/background-pass";
import type { Clock } from "../ports/clock";
import type { HandoffLock } from "../ports/handoff-lock";
import type { IdGenerator } from "../ports/id-generator";
import { LockContentionError, LockTimeoutError } from "../ports/lock-errors";
import type { ResolvedLockTimeout } from "../ports/lock-timeout";
import { StoreUnavailableError } from "../ports/payment-repository";
import type { SnapshotStore } from "../ports/snapshot-store";
import { ManifestRecord } from "./manifest-record";
import { Sandbox, SandboxGone } from "./sandbox";
import { sandboxContended, SandboxError, sandboxLost, sandboxNotFound } from "./sandbox-errors";
import type { SandboxObserver } from "./sandbox-events";
import { parseSandboxId, type SandboxId } from "./sandbox-ids";
import type { SandboxLimits } from "./sandbox-limits";
import type { SandboxManifest, SnapshotInfo } from "./sandbox-manifest";
import { SandboxOwnership } from "./sandbox-ownership";
import type { SandboxTimers } from "./sandbox-timers";
import type { SandboxWorld, SandboxWorlds } from "./sandbox-world";
import { restoreSnapshot, worldOfSnapshot } from "./restore-snapshot";

export interface SandboxesParts {
  /** Long ownership of one sandbox. A new one is made for each attempt to own it. */
  readonly lockFactory: (sandboxId: SandboxId) => HandoffLock;
  readonly snapshots: SnapshotStore;
  readonly worlds: SandboxWorlds;
  readonly limits: SandboxLimits;
  readonly clock: Clock;
  readonly timers: SandboxTimers;
  readonly ids: IdGenerator;
  readonly observer: SandboxObserver;
  /** Where this instance says that it is reached. */
  readonly ownUrl: () => string;
}

/** On its way here, or here. `waits`: its lock was waited for, as only an explicit attach does. */
interface Place {
  readonly arrived: Promise<Sandbox>;
  readonly waits: boolean;
  sandbox?: Sandbox;
}

/** Rounds of "it was here, it left, is it free?" for one request; each takes a whole hand-off. */
const MAX_ROUNDS = 4;
const CLAIM_LOOK_MS = 100;
const ONE_TRY: ResolvedLockTimeout = { timeout: 0, source: "the rule that no request takes a sandbox away" };

/**
 * The sandboxes of this instance. A sandbox moves here by `attach`, or because nobody alive owned it when a request came;
 * never because of the request alone. It leaves by `attach` elsewhere, when nobody uses it, by `delete` or by `close`.
 *
 * For each id there is at most one place, made before anything is awaited: requests that come while it is being filled
 * wait for the same attempt. The place is cleared when the attempt fails, or when the sandbox has left and its lock is
 * released, so a second owner in this process cannot come about either.
 */
export class Sandboxes {
  private readonly places = new Map<SandboxId, Place>();
  private readonly stopping = new AbortController();

  constructor(private readonly parts: SandboxesParts) {}

  /** A new one: empty, or as a snapshot has it, its clock included. */
  async create(merchant: MerchantId, fromSnapshot?: string): Promise<Sandbox> {
    const { clock, ids, worlds, snapshots } = this.parts;
    this.assertRoom();
    const world =
      fromSnapshot === undefined
        ? worlds.create(clock.now())
        : await worldOfSnapshot(snapshots, worlds, merchant, fromSnapshot);
    const id = parseSandboxId(ids.nextId());
    this.assertRoom();
    return this.place(id, true, (ownership) => this.firstOf(id, merchant, world, ownership)).arrived;
  }

  /** Makes it this instance's, asking the owner for it and waiting if there is one. */
  async attach(id: SandboxId, merchant: MerchantId): Promise<Sandbox> {
    await this.assertThere(id, merchant);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const place = this.places.get(id);
      try {
        const sandbox = await (place ?? this.placeFor(id, true)).arrived;
        // What we brought here ourselves was here, even if somebody has asked for it meanwhile.
        if (sandbox.isServing || place === undefined) return sandbox;
        await sandbox.outcome;
      } catch (error) {
        if (place === undefined || place.waits) throw told(error, id);
      }
    }
    throw sandboxContended(id, "keeps moving");
  }

  /** Lends its world, once, here; or says where it is. */
  async use<T>(id: SandboxId, merchant: MerchantId, work: (world: SandboxWorld) => Promise<T>): Promise<T> {
    return this.with(id, merchant, (sandbox) => sandbox.use(work));
  }

  checkpoint(id: SandboxId, merchant: MerchantId): Promise<SnapshotInfo> {
    return this.with(id, merchant, (sandbox) => sandbox.checkpoint());
  }

  /** `shown` must not wait for anything: it is shown as it is now. */
  show<T>(id: SandboxId, merchant: MerchantId, shown: (sandbox: Sandbox) => T): Promise<T> {
    return this.with(id, merchant, (sandbox) => sandbox.use(async () => shown(sandbox)));
  }

  /** Checkpoints it a last time and lets it go. Says whether it was here and has left. */
  async detach(id: SandboxId): Promise<boolean> {
    const sandbox = this.places.get(id)?.sandbox;
    return sandbox === undefined ? false : sandbox.leave("unloaded");
  }

  /** With all its snapshots. Works on a damaged one, too, so nothing is restored for it. */
  async delete(id: SandboxId, merchant: MerchantId): Promise<void> {
    await this.assertThere(id, merchant);
    const here = await this.places.get(id)?.arrived.catch(() => undefined);
    if (here !== undefined && (await here.leave("deleted"))) return this.assertDeleted(here);
    const ownership = await this.own(id, ONE_TRY).catch(async (error: unknown) => {
      throw isHeld(error) ? await this.elsewhere(id) : error;
    });
    try {
      const manifest = await ManifestRecord.read(this.parts.snapshots, id);
      if (manifest === null) return;
      await manifest.claim(ownership.fence, this.parts.ownUrl());
      await manifest.remove();
      const { observer, clock, ownUrl } = this.parts;
      const { fence } = ownership;
      observer.notify({ sandboxId: id, type: "deleted", at: clock.now(), ownerUrl: ownUrl(), fence });
    } finally {
      await ownership.release();
    }
  }

  /** Of this merchant, newest first; nothing is attached for it. */
  async list(
    merchant: MerchantId,
    { limit, before }: { readonly limit: number; readonly before?: string },
  ): Promise<{ readonly data: readonly SandboxManifest[]; readonly next: string | null }> {
    const ids = [...(await this.parts.snapshots.sandboxes())].reverse();
    const found: SandboxManifest[] = [];
    for (const text of ids) {
      if (before !== undefined && text >= before) continue;
      const record = await ManifestRecord.read(this.parts.snapshots, parseSandboxId(text));
      if (record?.current.merchant !== merchant) continue;
      if (found.length === limit) return { data: found, next: found.at(-1)?.sandboxId ?? null };
      found.push(record.current);
    }
    return { data: found, next: null };
  }

  /** Whether it is served from this memory now. */
  isHere(id: SandboxId): boolean {
    return this.places.get(id)?.sandbox?.isServing === true;
  }

  /** Checkpoints what has changed for long enough, and unloads what nobody uses. To be called every second or so. */
  async tend(): Promise<PassReport> {
    const { checkpointEveryMs, idleMs } = this.parts.limits;
    let [done, failed] = [0, 0];
    for (const { sandbox } of [...this.places.values()]) {
      if (sandbox?.isServing !== true) continue;
      if (sandbox.idleMs >= idleMs) {
        if (await sandbox.leave("unloaded")) done += 1;
        else failed += 1;
      } else if (sandbox.unsavedMs >= checkpointEveryMs) {
        if (await sandbox.checkpointQuietly()) done += 1;
        else failed += 1;
      }
    }
    return { done, skipped: 0, failed };
  }

  /** Everything is checkpointed and released; nothing is attached any more. */
  async close(): Promise<void> {
    this.stopping.abort();
    for (let rounds = 0; this.places.size > 0 && rounds < MAX_ROUNDS; rounds += 1) {
      await Promise.all(
        [...this.places.values()].map(async ({ arrived }) => {
          const sandbox = await arrived.catch(() => undefined);
          await sandbox?.leave("shutdown").catch(() => undefined);
        }),
      );
    }
  }

  private async with<T>(
    id: SandboxId,
    merchant: MerchantId,
    work: (sandbox: Sandbox) => Promise<T>,
  ): Promise<T> {
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      try {
        const sandbox = await this.hereOrFree(id, merchant);
        sandbox.assertBelongsTo(merchant);
        return await work(sandbox);
      } catch (error) {
        if (!(error instanceof SandboxGone)) throw error;
      }
    }
    throw sandboxContended(id, "keeps moving");
  }

  private async hereOrFree(id: SandboxId, merchant: MerchantId): Promise<Sandbox> {
    const place = this.places.get(id);
    try {
      if (place !== undefined) return await place.arrived;
      await this.assertThere(id, merchant);
      // Somebody else of this process may have been faster while we looked.
      return await (this.places.get(id) ?? this.placeFor(id, false)).arrived;
    } catch (error) {
      throw isHeld(error) ? await this.elsewhere(id) : error;
    }
  }

  private placeFor(id: SandboxId, waits: boolean): Place {
    this.assertRoom();
    return this.place(id, waits, (ownership) => this.restored(id, ownership));
  }

  /** Nothing is awaited before the place is there. */
  private place(
    id: SandboxId,
    waits: boolean,
    fill: (ownership: SandboxOwnership) => Promise<Sandbox>,
  ): Place {
    const place: Place = { waits, arrived: this.arrive(id, waits, fill, () => place) };
    this.places.set(id, place);
    place.arrived.catch(() => this.clear(id, place));
    return place;
  }

  private async arrive(
    id: SandboxId,
    waits: boolean,
    fill: (ownership: SandboxOwnership) => Promise<Sandbox>,
    placeNow: () => Place,
  ): Promise<Sandbox> {
    const ownership = await this.own(id, waits ? undefined : ONE_TRY);
    try {
      const sandbox = await fill(ownership);
      const loss = ownership.loss();
      if (loss !== null) throw sandboxLost(id, loss);
      if (this.stopping.signal.aborted) throw shuttingDown();
      placeNow().sandbox = sandbox;
      sandbox.begin();
      return sandbox;
    } catch (error) {
      await ownership.release();
      throw error;
    }
  }

  private own(id: SandboxId, timeout: ResolvedLockTimeout | undefined): Promise<SandboxOwnership> {
    const { lockFactory, clock } = this.parts;
    if (this.stopping.signal.aborted) return Promise.reject(shuttingDown());
    return SandboxOwnership.take(
      lockFactory(id),
      (lock) =>
        lock.acquire({
          scope: "sandbox",
          purpose: "sandbox",
          signal: this.stopping.signal,
          ...(timeout === undefined ? {} : { timeout }),
        }),
      () => clock.now(),
    );
  }

  /** The manifest carries our fence before anything is served: a late owner's checkpoint finds it, and is refused. */
  private async restored(id: SandboxId, ownership: SandboxOwnership): Promise<Sandbox> {
    const { snapshots, worlds, ownUrl } = this.parts;
    const manifest = await ManifestRecord.read(snapshots, id);
    if (manifest === null) throw sandboxNotFound(id);
    await manifest.claim(ownership.fence, ownUrl());
    const world = await restoreSnapshot(snapshots, worlds, manifest.current);
    const sandbox = this.sandbox(id, ownership, manifest, world, true);
    sandbox.tell("attached");
    return sandbox;
  }

  /** There is a snapshot before there is a manifest that names it, so whoever finds the one has the other. */
  private async firstOf(
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
    sandbox.tell("created");
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
    const onGone = (): void => {
      const place = this.places.get(id);
      if (place?.sandbox === sandbox) this.clear(id, place);
    };
    const sandbox = new Sandbox(
      { id, ownership, manifest, world, snapshots, limits, timers, clock, observer, onGone },
      isSaved,
    );
    return sandbox;
  }

  private clear(id: SandboxId, place: Place): void {
    if (this.places.get(id) === place) this.places.delete(id);
  }

  /** To others than its merchant it does not exist, and nobody else's request may make it move. */
  private async assertThere(id: SandboxId, merchant: MerchantId): Promise<void> {
    const record = await ManifestRecord.read(this.parts.snapshots, id);
    if (record?.current.merchant !== merchant) throw sandboxNotFound(id);
  }

  private async assertDeleted(sandbox: Sandbox): Promise<void> {
    if ((await ManifestRecord.read(this.parts.snapshots, sandbox.id)) !== null)
      throw await this.elsewhere(sandbox.id);
  }

  private assertRoom(): void {
    const { sandboxes } = this.parts.limits;
    if (this.stopping.signal.aborted) throw shuttingDown();
    if (this.places.size < sandboxes) return;
    throw new SandboxError(
      "sandbox_limit_reached",
      `this instance holds ${sandboxes} sandboxes, and no more: delete one, let one idle, or ask another instance`,
    );
  }

  /** Where it is. For a moment after a release the next owner has not yet said who it is. */
  private async elsewhere(id: SandboxId): Promise<SandboxError> {
    const { snapshots, timers, limits, ownUrl } = this.parts;
    const untilMs = timers.monotonicMs() + limits.claimMs;
    do {
      const record = await ManifestRecord.read(snapshots, id);
      if (record === null) return sandboxNotFound(id);
      const { ownerUrl } = record.current;
      if (ownerUrl !== ownUrl()) {
        return new SandboxError("sandbox_elsewhere", `sandbox ${id} is at ${ownerUrl}`, {
          sandboxId: id,
          ownerUrl,
        });
      }
      await new Promise<void>((resolve) => timers.after(CLAIM_LOOK_MS, resolve));
    } while (timers.monotonicMs() < untilMs && !this.stopping.signal.aborted);
    return sandboxContended(id, "is between two owners");
  }
}

function isHeld(error: unknown): boolean {
  return error instanceof LockTimeoutError || error instanceof LockContentionError;
}

/** What an attach that waited is told. */
function told(error: unknown, id: SandboxId): unknown {
  return error instanceof LockContentionError
    ? sandboxContended(id, "is being handed over to somebody who asked before")
    : error;
}

function shuttingDown(): StoreUnavailableError {
  return new StoreUnavailableError("the service is shutting down");
}
