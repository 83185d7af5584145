// Excludes everyone who uses the same bucket and prefix, from any machine.
// Survives crashes, restarts and lost answers: each change names the generation that it replaces.
// Not for hot keys: the service takes about one change per second and object.

import {
  missingBucket,
  refusalOf,
  resourceOf,
  storeErrorOf,
  type GcsResource,
} from "../../../gcs/gcs-answers";
import { createGcsClient, isAnonymous } from "../../../gcs/gcs-client";
import type { GcsLockLocation } from "../../../gcs/gcs-location";
import { MEDIA_REQUEST, mediaOf } from "../../../gcs/gcs-media";
import { gcsObjectName, resourceIdOfGcsObject } from "./gcs-object-name";
import { GcsRequests, type GcsAnswer, type GcsClient, type GcsRequest } from "../../../gcs/gcs-requests";
import { uploadOf } from "../../../gcs/gcs-upload";
import {
  parseLeaseRecord,
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
  type LeaseRecord,
  type StoredLeaseRecord,
} from "../protocol/lease-record";
import {
  recordVersion,
  TransientLeaseStoreError,
  type ClaimedLease,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "../protocol/lease-record-store";

export interface GcsLeaseRecordStoreSettings extends GcsLockLocation {
  /** How long one request may take before it counts as unanswered. */
  readonly requestTimeoutMs?: number;
  /** Another implementation of the API, instead of the real service. */
  readonly emulatorHost?: string | undefined;
  /** A client whose endpoint and credentials are taken, in place of what the environment says. */
  readonly storage?: GcsClient | undefined;
}

/** For callers without a lease to measure it by. */
const REQUEST_TIMEOUT_MS = 4_000;

const PAGE_SIZE = 1_000;
/** Times in answers are cut to whole seconds. */
const DATE_STEP_MS = 1_000;

/** One record is one object; its version is the object's generation. */
export class GcsLeaseRecordStore implements LeaseRecordStore {
  private readonly requests: GcsRequests;
  private bucketSeen = false;
  /** What the service's clock is ahead of this process's monotonic one, at most. */
  private aheadMs: number | undefined;

  constructor(private readonly settings: GcsLeaseRecordStoreSettings) {
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, emulatorHost, storage } = settings;
    const client = storage ?? createGcsClient({ requestTimeoutMs, emulatorHost });
    this.requests = new GcsRequests(client, requestTimeoutMs, isAnonymous(client));
  }

  /**
   * Rejects where the bucket is missing or closed to us. By listing: reading the bucket itself needs a permission that
   * the locks do not, while without the one to list, the service hides "no such object" behind 403.
   */
  async checkBucket(): Promise<void> {
    await this.page({ maxResults: 1 });
    this.bucketSeen = true;
  }

  async read(id: string): Promise<ReadLeaseRecord | null> {
    const doing = this.doing("read", id);
    const media = mediaOf(await this.send(doing, { ...MEDIA_REQUEST, path: this.pathOf(id) }), doing);
    if (media === "absent") {
      // A missing bucket answers 404 as well, and must not look like a free lock.
      if (!this.bucketSeen) await this.checkBucket();
      return null;
    }
    this.bucketSeen = true;
    if (media.text === null) throw new UnreadableLeaseRecordError(this.place(id), media.flaw);
    // Whatever stands between us and the service may answer, too: that is no answer of the service.
    if (media.generation === undefined || media.storeNowMs === undefined)
      throw new TransientLeaseStoreError(`${doing}: the answer names no generation, or no time`);
    return {
      record: parseLeaseRecord(media.text, this.place(id)),
      version: recordVersion(media.generation),
      storeNowMs: media.storeNowMs,
    };
  }

  async ageMs(id: string, version: RecordVersion): Promise<number | null> {
    const doing = this.doing("look at", id);
    // By condition and not by asking for that generation: a bucket that keeps old versions would answer for one of them.
    const query = { ifGenerationMatch: version };
    const answer = await this.send(doing, { method: "GET", path: this.pathOf(id), query });
    if (answer.status === 412 || answer.status === 404) return null;
    const { timeCreated } = resourceOf(answer, doing);
    const now = Date.parse(answer.headers["date"] ?? "");
    const written = Date.parse(timeCreated ?? "");
    if (Number.isNaN(now) || Number.isNaN(written))
      throw new TransientLeaseStoreError(`${doing}: the answer has no usable time`);
    // The answer's time is cut to whole seconds, so this errs towards young.
    return Math.max(0, now - written);
  }

  async write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict"> {
    const doing = this.doing("write", id);
    const { bucket, prefix } = this.settings;
    const name = gcsObjectName(prefix, id);
    const text = serializeLeaseRecord(record);
    const expected = ifVersion === "absent" ? 0 : ifVersion;
    const answer = await this.send(doing, uploadOf(bucket, name, text, "application/json", expected));
    if (answer.status === 412) return "conflict";
    if (answer.status === 404) throw missingBucket(bucket);
    const { generation } = resourceOf(answer, doing);
    if (generation === undefined)
      throw new TransientLeaseStoreError(`${doing}: the answer names no generation`);
    this.bucketSeen = true;
    return recordVersion(generation);
  }

  /**
   * The service cannot put its time into what it stores. So the fence is by its clock as answers told it, and the answer
   * to the claim itself tells whether that was right; where it was not (the first request of a process whose clock is
   * wrong, a machine that has slept), the claim is written once more.
   */
  async claim(
    id: string,
    record: LeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<ClaimedLease | "conflict"> {
    const guessMs = this.aheadMs === undefined ? Date.now() : this.latestMs(this.aheadMs);
    const fence = Math.max(record.fence, Math.floor(guessMs) + 1);
    const version = await this.write(id, { ...record, fence }, ifVersion);
    if (version === "conflict") return "conflict";
    const latestMs = this.aheadMs === undefined ? guessMs : Math.floor(this.latestMs(this.aheadMs));
    // Its clock says a step less at the earliest, and a step either way is allowed: a claim that is sent at the end of a
    // second and answered in the next is not behind.
    const isBehind = fence < latestMs - 2 * DATE_STEP_MS;
    const isAhead = fence > record.fence && fence > latestMs + DATE_STEP_MS;
    if (!isBehind && !isAhead) return { version, fence };
    const right = Math.max(record.fence, latestMs + 1);
    const again = await this.write(id, { ...record, fence: right }, version);
    return again === "conflict" ? "conflict" : { version: again, fence: right };
  }

  async remove(id: string, ifVersion: RecordVersion): Promise<void> {
    const doing = this.doing("remove", id);
    const query = { ifGenerationMatch: ifVersion };
    const answer = await this.send(doing, { method: "DELETE", path: this.pathOf(id), query });
    if (answer.status < 300 || answer.status === 412 || answer.status === 404) return;
    throw storeErrorOf(refusalOf(answer), doing);
  }

  /** The ids that have a record here, in no particular order; one that is too long for an object's name is left out. */
  async *resourceIds(): AsyncGenerator<string> {
    const { prefix } = this.settings;
    let pageToken: string | undefined;
    do {
      const page = await this.page({ maxResults: PAGE_SIZE, ...(pageToken !== undefined && { pageToken }) });
      for (const { name } of page.items ?? []) {
        const id = resourceIdOfGcsObject(prefix, name);
        if (id !== null) yield id;
      }
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
  }

  /** Ends every request that is under way, with its socket. */
  close(): void {
    this.requests.close();
  }

  private async page(query: Readonly<Record<string, string | number>>): Promise<GcsResource> {
    const { bucket, prefix } = this.settings;
    const doing = `cannot list gs://${bucket}/${prefix}`;
    const path = `/storage/v1/b/${encodeURIComponent(bucket)}/o`;
    const answer = await this.send(doing, { method: "GET", path, query: { ...query, prefix } });
    if (answer.status === 404) throw missingBucket(bucket);
    return resourceOf(answer, doing);
  }

  /** Any status is an answer; what is none rejects as a record store does. */
  private async send(doing: string, request: GcsRequest): Promise<GcsAnswer> {
    const sentAtMs = performance.now();
    try {
      const answer = await this.requests.send(request);
      const toldMs = Date.parse(answer.headers["date"] ?? "");
      if (!Number.isNaN(toldMs)) this.aheadMs = toldMs + DATE_STEP_MS - sentAtMs;
      return answer;
    } catch (error) {
      throw storeErrorOf(error, doing);
    }
  }

  /** The service's clock now, at the latest. */
  private latestMs(aheadMs: number): number {
    return performance.now() + aheadMs;
  }

  private pathOf(id: string): string {
    const { bucket, prefix } = this.settings;
    return `/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(gcsObjectName(prefix, id))}`;
  }

  private doing(verb: string, id: string): string {
    return `cannot ${verb} ${this.place(id)}`;
  }

  private place(id: string): string {
    return `gs://${this.settings.bucket}/${gcsObjectName(this.settings.prefix, id)}`;
  }
}
