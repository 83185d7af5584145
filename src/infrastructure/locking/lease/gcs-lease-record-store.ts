// Excludes everyone who uses the same bucket and prefix, from any machine.
// Survives crashes, restarts and lost answers: each change names the generation that it replaces.
// Not for hot keys: the service takes about one change per second and object.

import type { File, Storage } from "@google-cloud/storage";
import { missingBucket, statusOf, storeErrorOf } from "./gcs-answers";
import { createGcsClient } from "./gcs-client";
import type { GcsLockLocation } from "./gcs-lock-location";
import { mediaOf, requestMedia } from "./gcs-media";
import { gcsObjectName, resourceIdOfGcsObject } from "./gcs-object-name";
import {
  parseLeaseRecord,
  serializeLeaseRecord,
  UnreadableLeaseRecordError,
  type StoredLeaseRecord,
} from "./lease-record";
import {
  PermanentLeaseStoreError,
  recordVersion,
  type LeaseRecordStore,
  type ReadLeaseRecord,
  type RecordVersion,
} from "./lease-record-store";

export interface GcsLeaseRecordStoreSettings extends GcsLockLocation {
  /** How long one request may take before it counts as unanswered. */
  readonly requestTimeoutMs?: number;
  /** Another implementation of the API, instead of the real service. */
  readonly emulatorHost?: string | undefined;
}

/** For callers without a lease to measure it by. */
const REQUEST_TIMEOUT_MS = 4_000;

const PAGE_SIZE = 1_000;

/** One record is one object; its version is the object's generation. */
export class GcsLeaseRecordStore implements LeaseRecordStore {
  private readonly client: Storage;
  private bucketSeen = false;

  constructor(private readonly settings: GcsLeaseRecordStoreSettings) {
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, emulatorHost } = settings;
    this.client = createGcsClient({ requestTimeoutMs, emulatorHost });
  }

  /**
   * Rejects where the bucket is missing or closed to us. By listing: reading the bucket itself needs a permission that
   * the locks do not, while without the one to list, the service hides "no such object" behind 403.
   */
  async checkBucket(): Promise<void> {
    await this.page({ prefix: this.settings.prefix, maxResults: 1, autoPaginate: false });
    this.bucketSeen = true;
  }

  async read(id: string): Promise<ReadLeaseRecord | null> {
    const doing = this.doing("read", id);
    const answer = mediaOf(await requestMedia(this.file(id)), doing);
    if (answer === "absent") {
      // A missing bucket answers 404 as well, and must not look like a free lock.
      if (!this.bucketSeen) await this.checkBucket();
      return null;
    }
    this.bucketSeen = true;
    if (answer.text === null) throw new UnreadableLeaseRecordError(answer.flaw);
    if (answer.generation === undefined || answer.storeNowMs === undefined)
      throw new PermanentLeaseStoreError(`${doing}: the answer names no generation, or no time`);
    return {
      record: parseLeaseRecord(answer.text),
      version: recordVersion(answer.generation),
      storeNowMs: answer.storeNowMs,
    };
  }

  async ageMs(id: string, version: RecordVersion): Promise<number | null> {
    const doing = this.doing("look at", id);
    try {
      // By condition and not by asking for that generation: a bucket that keeps old versions would answer for one of them.
      const [metadata, answer] = await this.file(id).getMetadata({ ifGenerationMatch: version });
      const now = Date.parse(headerOf(answer, "date") ?? "");
      const written = Date.parse(metadata.timeCreated ?? "");
      if (Number.isNaN(now) || Number.isNaN(written))
        throw new PermanentLeaseStoreError(`${doing}: the answer has no usable time`);
      // The answer's time is cut to whole seconds, so this errs towards young.
      return Math.max(0, now - written);
    } catch (error) {
      if (error instanceof PermanentLeaseStoreError) throw error;
      if (statusOf(error) === 412 || statusOf(error) === 404) return null;
      throw storeErrorOf(error, doing);
    }
  }

  async write(
    id: string,
    record: StoredLeaseRecord,
    ifVersion: RecordVersion | "absent",
  ): Promise<RecordVersion | "conflict"> {
    const doing = this.doing("write", id);
    // A fresh one per call: the new generation comes back in its `metadata`, which is shared by all calls on one File.
    const file = this.file(id);
    try {
      await file.save(serializeLeaseRecord(record), {
        // One request instead of two; and no validation, because it answers a damaged upload with an
        // unconditional delete of whatever is there by then.
        resumable: false,
        validation: false,
        preconditionOpts: { ifGenerationMatch: ifVersion === "absent" ? 0 : ifVersion },
        // In a bucket that the public may read, the default is an hour in caches.
        metadata: { contentType: "application/json", cacheControl: "no-store" },
      });
    } catch (error) {
      if (statusOf(error) === 412) return "conflict";
      if (statusOf(error) === 404) throw missingBucket(this.settings.bucket);
      throw storeErrorOf(error, doing);
    }
    this.bucketSeen = true;
    const { generation } = file.metadata;
    if (generation === undefined)
      throw new PermanentLeaseStoreError(`${doing}: the answer names no generation`);
    return recordVersion(generation);
  }

  async remove(id: string, ifVersion: RecordVersion): Promise<void> {
    try {
      await this.file(id).delete({ ifGenerationMatch: ifVersion });
    } catch (error) {
      if (statusOf(error) === 412 || statusOf(error) === 404) return;
      throw storeErrorOf(error, this.doing("remove", id));
    }
  }

  /** The ids that have a record here, in no particular order; one that is too long for an object's name is left out. */
  async *resourceIds(): AsyncGenerator<string> {
    const { prefix } = this.settings;
    let query: object | null = { prefix, maxResults: PAGE_SIZE, autoPaginate: false };
    while (query !== null) {
      const [files, next] = await this.page(query);
      for (const { name } of files) {
        const id = resourceIdOfGcsObject(prefix, name);
        if (id !== null) yield id;
      }
      query = next;
    }
  }

  private async page(query: object): Promise<[File[], object | null]> {
    const { bucket, prefix } = this.settings;
    try {
      const [files, next] = await this.client.bucket(bucket).getFiles(query);
      return [files, next];
    } catch (error) {
      if (statusOf(error) === 404) throw missingBucket(bucket);
      throw storeErrorOf(error, `cannot list gs://${bucket}/${prefix}`);
    }
  }

  private file(id: string): File {
    return this.client.bucket(this.settings.bucket).file(gcsObjectName(this.settings.prefix, id));
  }

  private doing(verb: string, id: string): string {
    return `cannot ${verb} gs://${this.settings.bucket}/${gcsObjectName(this.settings.prefix, id)}`;
  }
}

function headerOf(answer: unknown, name: string): string | undefined {
  const { headers } = answer as { readonly headers?: Readonly<Record<string, string>> };
  return headers?.[name];
}
