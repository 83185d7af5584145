import type { MerchantId } from "../../domain/identifiers";
import type { PassReport } from "../background/background-pass";
import type { IdGenerator } from "../ports/id-generator";
import { LockContentionError, LockTimeoutError } from "../ports/lock-errors";
import type { ResolvedLockTimeout } from "../ports/lock-timeout";
import { listSandboxes, type SandboxPage, type SandboxQuery } from "./list-sandboxes";
import { ManifestRecord } from "./snapshots/manifest-record";
import { worldOfSnapshot } from "./snapshots/restore-snapshot";
import type { Sandbox } from "./sandbox";
import { ShuttingDownError } from "../shutting-down-error";
import { SandboxArrivals, type ArrivalParts } from "./ownership/sandbox-arrivals";
import { elsewhere } from "./ownership/sandbox-elsewhere";
import { SandboxGone } from "./ownership/sandbox-end";
import { sandboxContended, SandboxError, sandboxNotFound } from "./sandbox-errors";
import { parseSandboxId, type SandboxId } from "./sandbox-ids";
import type { SnapshotInfo } from "./snapshots/sandbox-manifest";
import type { SandboxOwnership } from "./ownership/sandbox-ownership";
import { SandboxPlaces, type Place } from "./sandbox-places";
import type { SandboxWorld } from "./world/sandbox-world";

export interface SandboxesParts extends ArrivalParts {
  readonly ids: IdGenerator;
}

/** Rounds of "it was here, it left, is it free?" for one request; each takes a whole hand-off. */
const MAX_ROUNDS = 4;
const ONE_TRY: ResolvedLockTimeout = { timeout: 0, source: "the rule that no request takes a sandbox away" };

/**
 * The sandboxes of this instance. A sandbox moves here by `attach`, or because nobody alive owned it when a request came;
 * never because of the request alone. It leaves by `attach` elsewhere, when nobody uses it, by `delete` or by `close`.
 */
export class Sandboxes {
  private readonly places = new SandboxPlaces();
  private readonly stopping = new AbortController();
  private readonly arrivals: SandboxArrivals;

  constructor(private readonly parts: SandboxesParts) {
    this.arrivals = new SandboxArrivals(parts, this.stopping.signal, (sandbox) => this.places.left(sandbox));
  }

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
    return this.place(id, true, (ownership) => this.arrivals.firstOf(id, merchant, world, ownership)).arrived;
  }

  /** Makes it this instance's, asking the owner for it and waiting if there is one. */
  async attach(id: SandboxId, merchant: MerchantId): Promise<Sandbox> {
    await this.assertThere(id, merchant);
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const place = this.places.of(id);
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

  /**
   * For a customer, who has no key: the id of the sandbox is all they know of it, and they were told it. As any request, theirs
   * brings it here if no living instance has it, and takes it from none.
   */
  async useAsCustomer<T>(id: SandboxId, work: (world: SandboxWorld) => Promise<T>): Promise<T> {
    const here = this.places.of(id)?.sandbox?.manifest ?? (await this.manifestOf(id));
    if (here === undefined) throw sandboxNotFound(id);
    return this.use(id, here.merchant, work);
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
    const sandbox = this.places.of(id)?.sandbox;
    return sandbox === undefined ? false : sandbox.leave("unloaded");
  }

  /** With all its snapshots. Works on a damaged one, too, so nothing is restored for it. */
  async delete(id: SandboxId, merchant: MerchantId): Promise<void> {
    await this.assertThere(id, merchant);
    const here = await this.places.of(id)?.arrived.catch(() => undefined);
    if (here !== undefined && (await here.leave("deleted"))) return this.assertDeleted(here);
    const ownership = await this.arrivals.own(id, ONE_TRY).catch(async (error: unknown) => {
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

  /** Whose it is, for an operator. */
  async merchantOf(id: SandboxId): Promise<MerchantId> {
    const merchant = (this.places.of(id)?.sandbox?.manifest ?? (await this.manifestOf(id)))?.merchant;
    if (merchant === undefined) throw sandboxNotFound(id);
    return merchant;
  }

  /** Of this merchant, or of all (null), newest first; nothing is attached for it. */
  list(merchant: MerchantId | null, query: SandboxQuery): Promise<SandboxPage> {
    return listSandboxes(this.parts.snapshots, merchant, query);
  }

  /** Whether it is served from this memory now. */
  isHere(id: SandboxId): boolean {
    return this.places.of(id)?.sandbox?.isServing === true;
  }

  /** Checkpoints what has changed for long enough, and unloads what nobody uses. To be called every second or so. */
  async tend(): Promise<PassReport> {
    const { checkpointEveryMs, idleMs } = this.parts.limits;
    let [done, failed] = [0, 0];
    for (const { sandbox } of this.places.all()) {
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
    for (let rounds = 0; this.places.count > 0 && rounds < MAX_ROUNDS; rounds += 1) {
      await Promise.all(
        this.places.all().map(async ({ arrived }) => {
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
    const place = this.places.of(id);
    try {
      if (place !== undefined) return await place.arrived;
      await this.assertThere(id, merchant);
      // Somebody else of this process may have been faster while we looked.
      return await (this.places.of(id) ?? this.placeFor(id, false)).arrived;
    } catch (error) {
      throw isHeld(error) ? await this.elsewhere(id) : error;
    }
  }

  private placeFor(id: SandboxId, waits: boolean): Place {
    this.assertRoom();
    return this.place(id, waits, (ownership) => this.arrivals.restored(id, ownership));
  }

  /** Nothing is awaited before the place is there. */
  private place(
    id: SandboxId,
    waits: boolean,
    fill: (ownership: SandboxOwnership) => Promise<Sandbox>,
  ): Place {
    const timeout = waits ? undefined : ONE_TRY;
    return this.places.fill(id, waits, (here) => this.arrivals.arrive(id, timeout, fill, here));
  }

  /** To others than its merchant it does not exist, and nobody else's request may make it move. */
  private async assertThere(id: SandboxId, merchant: MerchantId): Promise<void> {
    if ((await this.manifestOf(id))?.merchant !== merchant) throw sandboxNotFound(id);
  }

  private async manifestOf(id: SandboxId) {
    return (await ManifestRecord.read(this.parts.snapshots, id))?.current;
  }

  private async assertDeleted(sandbox: Sandbox): Promise<void> {
    if ((await ManifestRecord.read(this.parts.snapshots, sandbox.id)) !== null)
      throw await this.elsewhere(sandbox.id);
  }

  private assertRoom(): void {
    const { sandboxes } = this.parts.limits;
    if (this.stopping.signal.aborted) throw new ShuttingDownError();
    if (this.places.count < sandboxes) return;
    throw new SandboxError(
      "sandbox_limit_reached",
      `this instance holds ${sandboxes} sandboxes, and no more: delete one, let one idle, or ask another instance`,
    );
  }

  private elsewhere(id: SandboxId): Promise<SandboxError> {
    return elsewhere(id, this.parts, this.stopping.signal);
  }
}

function isHeld(error: unknown): boolean {
  return error instanceof LockTimeoutError || error instanceof LockContentionError;
}

/** What an attach that waited is told. */
function told(error: unknown, id: SandboxId): unknown {
  return error instanceof LockContentionError
    ? sandboxContended(id, "is being handed over to another instance that asked first")
    : error;
}
