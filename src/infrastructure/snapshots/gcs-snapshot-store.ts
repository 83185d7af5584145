import { setTimeout as sleep } from "node:timers/promises";
import {
  manifestVersion,
  SnapshotStoreError,
  type ManifestVersion,
  type SnapshotStore,
  type StoredManifest,
} from "../../application/ports/snapshot-store";
import { missingBucket, refusalOf, resourceOf, storeErrorOf, type GcsResource } from "../gcs/gcs-answers";
import { createGcsClient } from "../gcs/gcs-client";
import type { GcsLockLocation } from "../gcs/gcs-location";
import { MEDIA_REQUEST, mediaOf, refuseIfCutShort } from "../gcs/gcs-media";
import { GcsRequests } from "../gcs/gcs-requests";
import { uploadOf } from "../gcs/gcs-upload";
import { TransientLeaseStoreError } from "../locking/lease/protocol/lease-record-store";

export interface GcsSnapshotStoreSettings extends GcsLockLocation {
  readonly requestTimeoutMs?: number;
  /** Another implementation of the API, instead of the real service. */
  readonly emulatorHost?: string | undefined;
}

/** A snapshot may have tens of megabytes. */
const REQUEST_TIMEOUT_MS = 10_000;
const TRIES = 3;
/** The service takes about one change per second and object. */
const THROTTLED_MS = 1_050;
const PAGE_SIZE = 1_000;
const MANIFEST = "manifest.json";

/**
 * Excludes: other writers of the same manifest, from any machine: each change names the generation that it replaces.
 * Survives: crashes, restarts, lost and repeated requests; what the service acknowledged is durable.
 * Not for: more than about one checkpoint per second and sandbox.
 */
export class GcsSnapshotStore implements SnapshotStore {
  private readonly requests: GcsRequests;

  constructor(private readonly settings: GcsSnapshotStoreSettings) {
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, emulatorHost } = settings;
    const client = createGcsClient({ requestTimeoutMs, emulatorHost });
    this.requests = new GcsRequests(client, requestTimeoutMs, emulatorHost !== undefined);
  }

  /** Rejects where the bucket is missing or closed to us: asked once, at start. */
  async checkBucket(): Promise<void> {
    await this.page({ prefix: this.settings.prefix, maxResults: 1 });
  }

  async putSnapshot(sandboxId: string, name: string, bytes: Uint8Array): Promise<void> {
    const saved = await this.save(snapshotObject(sandboxId, name), bytes, 0, "application/octet-stream");
    if (saved !== "conflict") return;
    const there = await this.readSnapshot(sandboxId, name);
    if (there === null || Buffer.compare(there, bytes) !== 0)
      throw new SnapshotStoreError(`${this.doing("write", sandboxId)}: ${name} is there, with other content`);
  }

  readSnapshot(sandboxId: string, name: string): Promise<Uint8Array | null> {
    const object = snapshotObject(sandboxId, name);
    const doing = this.doing("read", object);
    return this.trying(doing, async () => {
      const answer = await this.requests.send({
        method: "GET",
        path: this.pathOf(object),
        query: { alt: "media" },
      });
      if (answer.status === 404) return null;
      if (answer.status >= 300) throw storeErrorOf(refusalOf(answer), doing);
      refuseIfCutShort(answer, doing);
      return answer.bytes;
    });
  }

  async snapshotNames(sandboxId: string): Promise<readonly string[]> {
    const folder = `${sandboxId}/snapshots/`;
    return (await this.objects(folder)).map((name) => name.slice(folder.length));
  }

  async removeSnapshot(sandboxId: string, name: string): Promise<void> {
    await this.remove(snapshotObject(sandboxId, name));
  }

  async readManifest(sandboxId: string): Promise<StoredManifest | null> {
    const object = `${sandboxId}/${MANIFEST}`;
    const doing = this.doing("read", object);
    return this.trying(doing, async () => {
      const media = mediaOf(await this.requests.send({ ...MEDIA_REQUEST, path: this.pathOf(object) }), doing);
      if (media === "absent") return null;
      if (media.text === null) throw new SnapshotStoreError(`${doing}: ${media.flaw}`);
      if (media.generation === undefined) throw new SnapshotStoreError(`${doing}: no generation`);
      return { text: media.text, version: manifestVersion(media.generation) };
    });
  }

  async writeManifest(
    sandboxId: string,
    text: string,
    ifVersion: ManifestVersion | "absent",
  ): Promise<ManifestVersion | "conflict"> {
    const generation = ifVersion === "absent" ? 0 : ifVersion;
    return this.save(`${sandboxId}/${MANIFEST}`, Buffer.from(text), generation, "application/json");
  }

  async removeSandbox(sandboxId: string, ifVersion: ManifestVersion): Promise<"removed" | "conflict"> {
    if (!(await this.remove(`${sandboxId}/${MANIFEST}`, ifVersion))) return "conflict";
    for (const name of await this.snapshotNames(sandboxId)) await this.removeSnapshot(sandboxId, name);
    return "removed";
  }

  async sandboxes(): Promise<readonly string[]> {
    const found = (await this.objects("")).flatMap((name) => {
      const [sandboxId = "", rest] = name.split("/", 2);
      return rest === MANIFEST ? [sandboxId] : [];
    });
    return found.sort();
  }

  private save(
    object: string,
    bytes: Uint8Array,
    ifGeneration: string | number,
    contentType: string,
  ): Promise<ManifestVersion | "conflict"> {
    const doing = this.doing("write", object);
    const { bucket, prefix } = this.settings;
    const upload = uploadOf(bucket, `${prefix}${object}`, bytes, contentType, ifGeneration);
    return this.trying(doing, async () => {
      const answer = await this.requests.send(upload);
      if (answer.status === 412) return "conflict";
      if (answer.status === 404) throw missingBucket(bucket);
      const { generation } = resourceOf(answer, doing);
      if (generation === undefined)
        throw new TransientLeaseStoreError(`${doing}: the answer names no generation`);
      return manifestVersion(generation);
    });
  }

  /** False if it is not there in this generation. */
  private remove(object: string, ifGeneration?: string): Promise<boolean> {
    const doing = this.doing("remove", object);
    const query = ifGeneration === undefined ? {} : { ifGenerationMatch: ifGeneration };
    return this.trying(doing, async () => {
      const answer = await this.requests.send({ method: "DELETE", path: this.pathOf(object), query });
      if (answer.status === 412 || answer.status === 404) return false;
      if (answer.status >= 300) throw storeErrorOf(refusalOf(answer), doing);
      return true;
    });
  }

  /** Without the prefix. */
  private async objects(folder: string): Promise<readonly string[]> {
    const { prefix } = this.settings;
    const names: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await this.page({
        prefix: `${prefix}${folder}`,
        maxResults: PAGE_SIZE,
        ...(pageToken !== undefined && { pageToken }),
      });
      names.push(...(page.items ?? []).map(({ name }) => name.slice(prefix.length)));
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
    return names;
  }

  private page(query: Readonly<Record<string, string | number>>): Promise<GcsResource> {
    const doing = this.doing("list", "");
    const path = `/storage/v1/b/${encodeURIComponent(this.settings.bucket)}/o`;
    return this.trying(doing, async () => {
      const answer = await this.requests.send({ method: "GET", path, query });
      if (answer.status === 404) throw missingBucket(this.settings.bucket);
      return resourceOf(answer, doing);
    });
  }

  /** Every change has a condition, so it may be sent again: at worst it meets itself, and that is a conflict like any other. */
  private async trying<T>(doing: string, attempt: () => Promise<T>): Promise<T> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await attempt();
      } catch (error) {
        if (error instanceof SnapshotStoreError) throw error;
        const found = error instanceof TransientLeaseStoreError ? error : storeErrorOf(error, doing);
        if (!(found instanceof TransientLeaseStoreError) || tries === TRIES)
          throw new SnapshotStoreError(found.message, { cause: error });
        await sleep(found.throttled ? THROTTLED_MS * (1 + Math.random() / 4) : 50 * tries);
      }
    }
  }

  private pathOf(object: string): string {
    const { bucket, prefix } = this.settings;
    return `/storage/v1/b/${encodeURIComponent(bucket)}/o/${encodeURIComponent(`${prefix}${object}`)}`;
  }

  private doing(verb: string, object: string): string {
    return `cannot ${verb} gs://${this.settings.bucket}/${this.settings.prefix}${object}`;
  }
}

function snapshotObject(sandboxId: string, name: string): string {
  return `${sandboxId}/snapshots/${name}`;
}
