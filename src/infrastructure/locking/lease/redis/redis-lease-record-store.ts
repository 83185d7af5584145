// Excludes everyone who uses the same Redis and prefix, from any machine.
// Survives crashes of its clients, and lost answers; a restart of Redis only as far as Redis keeps what it was told.
// Not for a Redis that evicts keys, nor for one whose failover may lose the last writes: the record is the lock.
import { nonce } from "../../nonce";
import {
  parseLeaseRecord,
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "../protocol/lease-record";
import {
  recordVersion,
  type ClaimedLease,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "../protocol/lease-record-store";
import { locationOf } from "./brought-redis";
import { RedisConnection } from "./redis-connection";
import { mastersOf } from "./redis-driver";
import type { RedisPlace } from "./redis-location";
import { RedisNotices } from "./redis-notices";

export interface RedisLeaseRecordStoreSettings {
  /** A URL, or a client of ioredis whose configuration is taken. */
  readonly url: RedisPlace;
  /** Default: `holdfast:lock:`. */
  readonly keyPrefix?: string;
  /** How long one request may take before it counts as unanswered. */
  readonly requestTimeoutMs?: number;
}

const KEY_PREFIX = "holdfast:lock:";
/** For callers without a lease to measure it by. */
const REQUEST_TIMEOUT_MS = 4_000;
const SCAN_COUNT = 1_000;

const NOW = "local t = redis.call('TIME') local now = t[1] * 1000 + math.floor(t[2] / 1000)";

/**
 * Record, version, when that was written, and the time now, by the same clock. False if there is no such key. To take a
 * time to live from a key that has none changes nothing, but it is a write: a server that may not write, because it was
 * demoted, would answer with what it remembers.
 */
const read = `${NOW}
  redis.call('PERSIST', KEYS[1])
  local found = redis.call('HMGET', KEYS[1], 'record', 'version', 'at')
  return {found[1], found[2], found[3], tostring(now), redis.call('EXISTS', KEYS[1])}`;

/**
 * ARGV: expected version or nothing, record, its version, channel to tell of a release or nothing, id, the least fence of a
 * claim or nothing. Answers 0, or the fence of the claim, or 1. In text that is JSON, only a key looks as a key does.
 */
const write = `
  if ARGV[1] == '' then
    if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
  elseif redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
  ${NOW}
  local record, answer = ARGV[2], 1
  if ARGV[6] ~= '' then
    answer = math.max(tonumber(ARGV[6]), now + 1)
    record = string.gsub(record, '"fence":%d+', string.format('"fence":%.0f', answer), 1)
  end
  redis.call('HSET', KEYS[1], 'record', record, 'version', ARGV[3], 'at', tostring(now))
  if ARGV[4] ~= '' then redis.call('PUBLISH', ARGV[4], ARGV[5]) end
  return answer`;

const remove = `
  if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
  return redis.call('DEL', KEYS[1])`;

/** Under names that no command of Redis has. */
const SCRIPTS = { holdfastRead: read, holdfastWrite: write, holdfastRemove: remove };

/** One record is one hash; who writes it draws its version, long enough never to be drawn again. */
export class RedisLeaseRecordStore implements LeaseRecordStore {
  private readonly connection: RedisConnection<keyof typeof SCRIPTS>;
  private readonly notices: RedisNotices;
  private readonly keyPrefix: string;

  constructor({
    url,
    keyPrefix = KEY_PREFIX,
    requestTimeoutMs = REQUEST_TIMEOUT_MS,
  }: RedisLeaseRecordStoreSettings) {
    this.keyPrefix = keyPrefix;
    const location = locationOf(url);
    this.notices = new RedisNotices(location, `${keyPrefix}released`);
    this.connection = new RedisConnection(location, requestTimeoutMs, SCRIPTS, () =>
      this.notices.reconnect(),
    );
  }

  /** Whether a request has ever been sent. */
  get hasSent(): boolean {
    return this.connection.hasSent;
  }

  /** Rejects when Redis does not answer. */
  async probe(): Promise<void> {
    await this.connection.send("cannot reach Redis", (redis) => redis.ping());
  }

  async read(id: string): Promise<ReadLeaseRecord | null> {
    const [record, version, , now, exists] = await this.found(id);
    if (exists === 0) return null;
    if (record === null || version === null)
      throw new UnreadableLeaseRecordError(this.place(id), "fields are missing");
    return {
      record: parseLeaseRecord(record, this.place(id)),
      version: recordVersion(version),
      storeNowMs: Number(now),
    };
  }

  async ageMs(id: string, version: RecordVersion): Promise<number | null> {
    const [, current, at, now] = await this.found(id);
    return current === version ? Math.max(0, Number(now) - Number(at)) : null;
  }

  async write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict"> {
    const written = await this.put(id, record, ifVersion, "");
    return written === "conflict" ? written : written.version;
  }

  claim(
    id: string,
    record: LeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<ClaimedLease | "conflict"> {
    return this.put(id, record, ifVersion, String(record.fence));
  }

  async remove(id: string, ifVersion: RecordVersion): Promise<void> {
    await this.connection.run(`cannot remove ${this.key(id)}`, "holdfastRemove", this.key(id), ifVersion);
  }

  onReleased(id: string, wake: () => void): () => void {
    return this.notices.listen(id, wake);
  }

  /** The ids that have a record here, in no particular order. */
  async *resourceIds(): AsyncGenerator<string> {
    // A scan may tell a key twice.
    const told = new Set<string>();
    const pattern = `${this.keyPrefix.replace(/[\\*?[\]]/g, "\\$&")}*`;
    const masters = await this.connection.send("cannot list the locks", (redis) =>
      Promise.resolve(mastersOf(redis)),
    );
    for (const master of masters)
      for (let cursor: string | undefined = "0"; cursor !== undefined;) {
        const from: string = cursor;
        const [next, keys] = await this.connection.send("cannot list the locks", () =>
          master.scan(from, "MATCH", pattern, "COUNT", SCAN_COUNT),
        );
        for (const key of keys) {
          if (!told.has(key)) yield key.slice(this.keyPrefix.length);
          told.add(key);
        }
        cursor = next === "0" ? undefined : next;
      }
  }

  close(): void {
    this.notices.close();
    this.connection.close();
  }

  private async put(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
    leastFence: string,
  ): Promise<ClaimedLease | "conflict"> {
    const version = nonce(15);
    const answer = await this.connection.run(
      `cannot write ${this.key(id)}`,
      "holdfastWrite",
      this.key(id),
      ifVersion === "absent" ? "" : ifVersion,
      serializeLeaseRecord(record),
      version,
      record.ownerId === null ? this.notices.channel : "",
      id,
      leastFence,
    );
    return answer === 0 ? "conflict" : { version: recordVersion(version), fence: Number(answer) };
  }

  private async found(
    id: string,
  ): Promise<
    [record: string | null, version: string | null, at: string | null, now: string, exists: number]
  > {
    try {
      const found = await this.connection.run(`cannot read ${this.key(id)}`, "holdfastRead", this.key(id));
      return found as Awaited<ReturnType<RedisLeaseRecordStore["found"]>>;
    } catch (error) {
      if (/WRONGTYPE/.test((error as Error).message))
        throw new UnreadableLeaseRecordError(this.place(id), "it is no hash");
      throw error;
    }
  }

  /** Under which a record is kept. */
  key(id: string): string {
    return this.keyPrefix + id;
  }

  private place(id: string): string {
    return `the Redis key ${this.key(id)}`;
  }
}
