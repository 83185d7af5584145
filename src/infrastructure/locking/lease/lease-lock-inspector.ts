// Excludes: nobody; it reads records, and changes one only as `break` and `sweep` say.
// Survives: records that are not ours or cannot be read; they are shown as unknown and left alone.
// Not for: finding out whether a holder lives. A lease that has ended by the store's clock is called abandoned.
import type {
  BreakAudit,
  BreakOutcome,
  InspectedLock,
  LockInspector,
} from "../../../application/ports/lock-inspector";
import { LockUnavailableError } from "../../../application/ports/lock-errors";
import { auditLine } from "../audit-line";
import { isForeign, UnreadableLeaseRecordError, type StoredLeaseRecord } from "./protocol/lease-record";
import type { LeaseRecordStore, ReadLeaseRecord } from "./protocol/lease-record-store";
import { leaseSettings } from "./protocol/lease-settings";
import { released } from "./protocol/lease-transitions";

/** A record store that can also say what it has. */
export interface ListedRecordStore extends LeaseRecordStore {
  resourceIds(): AsyncIterable<string>;
}

export interface LeaseLockInspectorParts {
  readonly records: ListedRecordStore;
  /** Where a record is kept, for people. */
  readonly where: (resourceId: string) => string;
  readonly now: () => Date;
  /** Called before a lock is broken: no lock is ever broken without a trace. */
  readonly audit: (line: BreakAudit) => Promise<void>;
}

export class LeaseLockInspector implements LockInspector {
  constructor(private readonly parts: LeaseLockInspectorParts) {}

  async list(): Promise<readonly InspectedLock[]> {
    const found: InspectedLock[] = [];
    for await (const id of this.parts.records.resourceIds()) {
      const lock = await this.show(id);
      if (lock !== null) found.push(lock);
    }
    return found.sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
  }

  async show(resourceId: string): Promise<InspectedLock | null> {
    const where = this.parts.where(resourceId);
    try {
      const read = await this.parts.records.read(resourceId);
      return read === null ? null : await this.inspected(resourceId, read);
    } catch (error) {
      if (!(error instanceof UnreadableLeaseRecordError)) throw error;
      return { resourceId, state: "unknown", where, remark: error.message };
    }
  }

  async break(resourceId: string, ifHeldBy: string): Promise<BreakOutcome> {
    const { records, now, audit } = this.parts;
    const read = await records.read(resourceId).catch((error: unknown) => {
      if (error instanceof UnreadableLeaseRecordError)
        throw new LockUnavailableError(resourceId, error.message, { cause: error, permanent: true });
      throw error;
    });
    if (read === null || read.record.ownerId === null) return { outcome: "not_held" };
    if (read.record.ownerId !== ifHeldBy) {
      return { outcome: "held_by_another", lock: await this.inspected(resourceId, read) };
    }
    const line = auditLine(resourceId, ifHeldBy, now());
    await audit(line);
    const written = await records.write(resourceId, freed(read.record), read.version);
    return written === "conflict" ? { outcome: "busy" } : { outcome: "broken", audit: line };
  }

  async sweep(idleMs: number): Promise<readonly string[]> {
    const { records } = this.parts;
    const swept: string[] = [];
    for await (const id of records.resourceIds()) {
      const read = await this.readable(id);
      if (read === null || read.record.ownerId !== null || read.record.waitingOwnerId !== null) continue;
      // Of a semaphore that may be in use: it is written once, and read for as long as any of its slots is taken.
      if (permitsOf(read.record) !== undefined) continue;
      const ageMs = await records.ageMs(id, read.version);
      if (ageMs === null || ageMs < idleMs) continue;
      // Whoever takes it in this instant changes the version, and then nothing is removed.
      await records.remove(id, read.version);
      swept.push(id);
    }
    return swept.sort();
  }

  private async readable(id: string): Promise<ReadLeaseRecord | null> {
    try {
      return await this.parts.records.read(id);
    } catch (error) {
      if (error instanceof UnreadableLeaseRecordError) return null;
      throw error;
    }
  }

  private async inspected(resourceId: string, { record, version }: ReadLeaseRecord): Promise<InspectedLock> {
    const held = record.ownerId !== null;
    return {
      resourceId,
      state: await this.stateOf(resourceId, record, version),
      where: this.parts.where(resourceId),
      ...(record.ownerId === null ? {} : { holder: holderOf(record, record.ownerId) }),
      ...(record.waitingOwnerId === null ? {} : { waitingOwnerId: record.waitingOwnerId }),
      ...(held && record.expiresAt !== null ? { expiresAt: new Date(record.expiresAt * 1_000) } : {}),
      ...toldOf(record),
    };
  }

  private async stateOf(
    id: string,
    record: StoredLeaseRecord,
    version: ReadLeaseRecord["version"],
  ): Promise<InspectedLock["state"]> {
    if (record.ownerId === null) return "free";
    // Whether its holder lives, only somebody can tell who has watched it for a while.
    if (isForeign(record)) return "unknown";
    const ageMs = await this.parts.records.ageMs(id, version);
    const { marginMs } = leaseSettings({ ttlMs: record.ttlMs });
    return ageMs !== null && ageMs + record.ownerAgeMs > record.ttlMs + marginMs ? "abandoned" : "held";
  }
}

function permitsOf(record: StoredLeaseRecord): number | undefined {
  return isForeign(record) ? undefined : record.permits;
}

function toldOf(record: StoredLeaseRecord): Pick<InspectedLock, "remark" | "fencingToken"> {
  const permits = permitsOf(record);
  if (permits !== undefined) return { remark: `says that the semaphore has ${permits} permits` };
  if (isForeign(record)) return { remark: "written by another implementation" };
  return { fencingToken: BigInt(record.fence) };
}

function holderOf(record: StoredLeaseRecord, ownerId: string) {
  if (isForeign(record) || record.holder === null) return { ownerId };
  const { host, pid, operation, since } = record.holder;
  return {
    ownerId,
    host,
    pid,
    since: new Date(since * 1_000),
    ...(operation === null ? {} : { purpose: operation }),
  };
}

function freed(record: StoredLeaseRecord): StoredLeaseRecord {
  return isForeign(record) ? { ...record, ownerId: null, expiresAt: 0 } : released(record, record);
}
