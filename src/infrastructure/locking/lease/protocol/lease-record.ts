/**
 * The four fields that every implementation of this lock writes, ours and others'. Times are Unix seconds, with a
 * fraction; they are for people and for foreign peers, and none of our own decisions rests on them.
 */
export interface LeaseFields {
  /** The tenure that holds the lock, or null when it is free. */
  readonly ownerId: string | null;
  /** Null where its writer said nothing. */
  readonly expiresAt: number | null;
  /** The tenure that will take the lock next, or null when nobody waits. */
  readonly waitingOwnerId: string | null;
  readonly waiterExpiresAt: number | null;
}

/** A record that another implementation wrote. Its end is all that tells when its owner is gone. */
export interface ForeignLeaseRecord extends LeaseFields {
  readonly expiresAt: number;
  readonly ttlMs?: undefined;
}

/** A record as Holdfast writes it. Its `ttlMs` tells it from a foreign one. */
export interface LeaseRecord extends LeaseFields {
  readonly ttlMs: number;
  /** Grows with each renewal. Together with `fence` it changes exactly when the owner shows a sign of life. */
  readonly renewSeq: number;
  /** The fencing token of the current or last tenure; grows with each tenure, survives every release. */
  readonly fence: number;
  /** How old the owner's last sign of life already was when somebody else wrote this version, in milliseconds. */
  readonly ownerAgeMs: number;
  readonly holder: LeaseHolder | null;
  /** Who waits behind `waitingOwnerId`, in the order of their turns. It decides about order, never about exclusion. */
  readonly waitingBehind?: readonly string[];
  /** Of the record that says how many slots a semaphore has, and that is never held. */
  readonly permits?: number;
}

export interface LeaseHolder {
  readonly host: string;
  readonly pid: number;
  readonly operation: string | null;
  /** Unix seconds. */
  readonly since: number;
}

export type StoredLeaseRecord = LeaseRecord | ForeignLeaseRecord;

export function isForeign(record: StoredLeaseRecord): record is ForeignLeaseRecord {
  return record.ttlMs === undefined;
}

/**
 * What is stored under the lock's name is no lease record: somebody's file, a torn write, an unknown format. It counts
 * as held and is never overwritten, for nobody can tell from it whether somebody is inside; a person has to look at it.
 */
export class UnreadableLeaseRecordError extends Error {
  override readonly name = "UnreadableLeaseRecordError";

  constructor(place: string, flaw: string) {
    super(
      `${place} is not a lease record (${flaw}), and counts as held: look at it, and remove it when this lock has no holder`,
    );
  }
}

export function serializeLeaseRecord(record: StoredLeaseRecord): string {
  const common = {
    ownerId: record.ownerId,
    expiresAt: record.expiresAt,
    waitingOwnerId: record.waitingOwnerId,
    waiterExpiresAt: record.waiterExpiresAt,
  };
  if (isForeign(record)) return JSON.stringify(common);
  const { ttlMs, renewSeq, fence, ownerAgeMs, holder, permits, waitingBehind = [] } = record;
  const behind = waitingBehind.length === 0 ? {} : { waitingBehind };
  return JSON.stringify({ ...common, ttlMs, renewSeq, fence, ownerAgeMs, holder, ...behind, permits });
}

/**
 * Throws `UnreadableLeaseRecordError`, which names `place`. What decides whether somebody is inside has to be there and
 * to be exact. All else may be missing, and what errs, errs towards an owner that lives longer. Unknown fields are
 * allowed, so that a later version can add some.
 */
export function parseLeaseRecord(text: string, place: string): StoredLeaseRecord {
  const fields = new Fields(parseObject(text, place), place);
  const ownerId = fields.nullable("ownerId", nonEmptyString);
  const expiresAt = fields.optional("expiresAt", finiteNumber);
  const common = {
    ownerId,
    waitingOwnerId: fields.optional("waitingOwnerId", nonEmptyString),
    waiterExpiresAt: fields.optional("waiterExpiresAt", finiteNumber),
  };
  const ttlMs = fields.optional("ttlMs", roundedUp);
  const behind = fields.optional("waitingBehind", namesOfWaiters);
  const permits = fields.optional("permits", permitsOrNone);
  if (ttlMs !== null)
    return {
      ...common,
      expiresAt,
      ttlMs,
      renewSeq: fields.required("renewSeq", naturalNumber),
      fence: fields.required("fence", naturalNumber),
      ownerAgeMs: fields.optional("ownerAgeMs", roundedDown) ?? 0,
      holder: fields.optional("holder", leaseHolder),
      ...(behind !== null && { waitingBehind: behind }),
      ...(permits !== null && { permits }),
    };
  if (ownerId !== null && expiresAt === null) throw fields.unreadable("expiresAt and ttlMs are missing");
  return { ...common, expiresAt: expiresAt ?? 0 };
}

type Check<T> = (value: unknown) => T | undefined;

class Fields {
  constructor(
    private readonly values: Readonly<Record<string, unknown>>,
    private readonly place: string,
  ) {}

  required<T>(name: string, check: Check<T>): T {
    const value = this.optional(name, check);
    if (value === null) throw this.unreadable(`${name} is missing`);
    return value;
  }

  /** Must be there, and may be null. */
  nullable<T>(name: string, check: Check<T>): T | null {
    return this.values[name] === null ? null : this.required(name, check);
  }

  /** May be null or missing: the reference leaves its waiter's fields out while nobody waits. */
  optional<T>(name: string, check: Check<T>): T | null {
    const given = Object.hasOwn(this.values, name) ? this.values[name] : null;
    if (given === null) return null;
    const value = check(given);
    if (value === undefined) throw this.unreadable(`${name} is malformed`);
    return value;
  }

  unreadable(flaw: string): UnreadableLeaseRecordError {
    return new UnreadableLeaseRecordError(this.place, flaw);
  }
}

function parseObject(text: string, place: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnreadableLeaseRecordError(place, "it is not JSON");
  }
  if (!isObject(value)) throw new UnreadableLeaseRecordError(place, "it is not a JSON object");
  return value;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const nonEmptyString: Check<string> = (value) =>
  typeof value === "string" && value !== "" ? value : undefined;

/** They are about order alone: whoever misses its name there says it again. */
const namesOfWaiters: Check<readonly string[] | null> = (value) =>
  Array.isArray(value) && value.every((name) => nonEmptyString(name) !== undefined)
    ? (value as readonly string[])
    : null;

/** Whoever looks for it says what is wrong; to a lock it means nothing. */
const permitsOrNone: Check<number | null> = (value) => naturalNumber(value) ?? null;

const finiteNumber: Check<number> = (value) =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** Safe integers only: a fence that lost digits on the way would compare wrong. */
const naturalNumber: Check<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** A ttl that was computed: longer is the safe side. */
const roundedUp: Check<number> = (value) =>
  typeof value === "number" && value > 0 ? naturalNumber(Math.ceil(value)) : undefined;

/** An age that was computed: younger is the safe side. */
const roundedDown: Check<number> = (value) =>
  typeof value === "number" ? naturalNumber(Math.max(0, Math.floor(value))) : undefined;

/** It is for people alone: what is wrong with it keeps nobody from a lock. */
const leaseHolder: Check<LeaseHolder | null> = (value) => {
  if (!isObject(value)) return null;
  const host = nonEmptyString(value["host"]);
  const pid = naturalNumber(value["pid"]);
  const since = finiteNumber(value["since"]);
  if (host === undefined || pid === undefined || since === undefined) return null;
  return { host, pid, operation: nonEmptyString(value["operation"]) ?? null, since };
};
