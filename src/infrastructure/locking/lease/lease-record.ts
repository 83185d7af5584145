/**
 * The four fields that every implementation of this lock writes, ours and others'. Times are Unix seconds, with a
 * fraction; they are for people and for foreign peers, and none of our own decisions rests on them.
 */
interface LeaseFields {
  /** The tenure that holds the lock, or null when it is free. */
  readonly ownerId: string | null;
  readonly expiresAt: number;
  /** The tenure that will take the lock next, or null when nobody waits. */
  readonly waitingOwnerId: string | null;
  readonly waiterExpiresAt: number | null;
}

/** A record that another implementation wrote. */
export interface ForeignLeaseRecord extends LeaseFields {
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
 * as held and is never overwritten; a person has to look at it.
 */
export class UnreadableLeaseRecordError extends Error {
  override readonly name = "UnreadableLeaseRecordError";

  constructor(readonly flaw: string) {
    super(`the stored record is not a lease record (${flaw}); look at it, and remove it if it is not needed`);
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
  const { ttlMs, renewSeq, fence, ownerAgeMs, holder } = record;
  return JSON.stringify({ ...common, ttlMs, renewSeq, fence, ownerAgeMs, holder });
}

/** Throws `UnreadableLeaseRecordError`. Unknown fields are allowed, so that a later version can add some. */
export function parseLeaseRecord(text: string): StoredLeaseRecord {
  const fields = new Fields(parseObject(text));
  const common: LeaseFields = {
    ownerId: fields.nullable("ownerId", nonEmptyString),
    expiresAt: fields.required("expiresAt", finiteNumber),
    waitingOwnerId: fields.optional("waitingOwnerId", nonEmptyString),
    waiterExpiresAt: fields.optional("waiterExpiresAt", finiteNumber),
  };
  if (!fields.has("ttlMs")) return common;
  const record: LeaseRecord = {
    ...common,
    ttlMs: fields.required("ttlMs", positiveInteger),
    renewSeq: fields.required("renewSeq", naturalNumber),
    fence: fields.required("fence", naturalNumber),
    ownerAgeMs: fields.required("ownerAgeMs", naturalNumber),
    holder: fields.nullable("holder", leaseHolder),
  };
  return record;
}

type Check<T> = (value: unknown) => T | undefined;

class Fields {
  constructor(private readonly values: Record<string, unknown>) {}

  has(name: string): boolean {
    return Object.hasOwn(this.values, name);
  }

  required<T>(name: string, check: Check<T>): T {
    const value = this.has(name) ? check(this.values[name]) : undefined;
    if (value === undefined) throw new UnreadableLeaseRecordError(`${name} is missing or malformed`);
    return value;
  }

  /** Must be there, and may be null. */
  nullable<T>(name: string, check: Check<T>): T | null {
    return this.has(name) && this.values[name] === null ? null : this.required(name, check);
  }

  /** May be null or missing: the reference leaves its waiter's fields out while nobody waits. */
  optional<T>(name: string, check: Check<T>): T | null {
    return this.has(name) ? this.nullable(name, check) : null;
  }
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UnreadableLeaseRecordError("it is not JSON");
  }
  if (!isObject(value)) throw new UnreadableLeaseRecordError("it is not a JSON object");
  return value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const nonEmptyString: Check<string> = (value) =>
  typeof value === "string" && value !== "" ? value : undefined;

const finiteNumber: Check<number> = (value) =>
  typeof value === "number" && Number.isFinite(value) ? value : undefined;

/** Safe integers only: a fence that lost digits on the way would compare wrong. */
const naturalNumber: Check<number> = (value) =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

const positiveInteger: Check<number> = (value) => {
  const natural = naturalNumber(value);
  return natural === 0 ? undefined : natural;
};

const leaseHolder: Check<LeaseHolder> = (value) => {
  if (!isObject(value)) return undefined;
  const fields = new Fields(value);
  return {
    host: fields.required("host", nonEmptyString),
    pid: fields.required("pid", naturalNumber),
    operation: fields.nullable("operation", nonEmptyString),
    since: fields.required("since", finiteNumber),
  };
};
