import type { File, Storage } from "@google-cloud/storage";
import { setTimeout as sleep } from "node:timers/promises";
import {
  manifestVersion,
  SnapshotStoreError,
  type ManifestVersion,
  type SnapshotStore,
  type StoredManifest,
} from "../../application/ports/snapshot-store";
import { statusOf, storeErrorOf } from "../locking/lease/gcs-answers";
import { createGcsClient } from "../locking/lease/gcs-client";
import type { GcsLockLocation } from "../locking/lease/gcs-lock-location";
import { mediaOf, requestMedia } from "../locking/lease/gcs-media";
import { TransientLeaseStoreError } from "../locking/lease/lease-record-store";

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
  private readonly client: Storage;
  private readonly requestTimeoutMs: number;

  constructor(private readonly settings: GcsSnapshotStoreSettings) {
    const { requestTimeoutMs = REQUEST_TIMEOUT_MS, emulatorHost } = settings;
    this.requestTimeoutMs = requestTimeoutMs;
    this.client = createGcsClient({ requestTimeoutMs, emulatorHost });
  }

  /** Rejects where the bucket is missing or closed to us: asked once, at start. */
  async checkBucket(): Promise<void> {
    await this.page({ prefix: this.settings.prefix, maxResults: 1, autoPaginate: false });
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
    return this.trying(this.doing("read", object), async () => {
      try {
        return await this.download(this.file(object));
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
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
    const doing = this.doing("read", `${sandboxId}/${MANIFEST}`);
    return this.trying(doing, async () => {
      const media = mediaOf(await requestMedia(this.file(`${sandboxId}/${MANIFEST}`)), doing);
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
    return this.trying(doing, async () => {
      const file = this.file(object);
      try {
        // Not resumable: two requests instead of one. No validation: a mismatch would be answered by an unconditional delete.
        await file.save(Buffer.from(bytes), {
          resumable: false,
          validation: false,
          preconditionOpts: { ifGenerationMatch: ifGeneration },
          metadata: { contentType, cacheControl: "no-store" },
        });
      } catch (error) {
        if (statusOf(error) === 412) return "conflict";
        throw error;
      }
      const { generation } = file.metadata;
      if (generation === undefined) throw new SnapshotStoreError(`${doing}: the answer names no generation`);
      return manifestVersion(generation);
    });
  }

  /** False if it is not there in this generation. */
  private remove(object: string, ifGeneration?: string): Promise<boolean> {
    return this.trying(this.doing("remove", object), async () => {
      try {
        await this.file(object).delete(ifGeneration === undefined ? {} : { ifGenerationMatch: ifGeneration });
        return true;
      } catch (error) {
        if (statusOf(error) === 412 || statusOf(error) === 404) return false;
        throw error;
      }
    });
  }

  /** With a deadline of its own: a download that breaks in the middle leaves the client's stream without any end. */
  private download(file: File): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = [];
      const stream = file.createReadStream({ validation: false, decompress: false });
      const late = setTimeout(() => {
        stream.destroy();
        reject(new Error(`no end within ${this.requestTimeoutMs} ms`));
      }, this.requestTimeoutMs);
      stream
        .on("data", (chunk: Buffer) => chunks.push(chunk))
        .once("error", (error: Error) => {
          clearTimeout(late);
          reject(error);
        })
        .once("end", () => {
          clearTimeout(late);
          resolve(Buffer.concat(chunks));
        });
    });
  }

  /** Without the prefix. */
  private async objects(folder: string): Promise<readonly string[]> {
    const { prefix } = this.settings;
    const names: string[] = [];
    let query: object | null = { prefix: `${prefix}${folder}`, maxResults: PAGE_SIZE, autoPaginate: false };
    while (query !== null) {
      const [files, next]: [File[], object | null] = await this.page(query);
      names.push(...files.map(({ name }) => name.slice(prefix.length)));
      query = next;
    }
    return names;
  }

  private page(query: object): Promise<[File[], object | null]> {
    return this.trying(this.doing("list", ""), async () => {
      const [files, next] = await this.client.bucket(this.settings.bucket).getFiles(query);
      return [files, next];
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

  private file(object: string): File {
    return this.client.bucket(this.settings.bucket).file(`${this.settings.prefix}${object}`);
  }

  private doing(verb: string, object: string): string {
    return `cannot ${verb} gs://${this.settings.bucket}/${this.settings.prefix}${object}`;
  }
}

function snapshotObject(sandboxId: string, name: string): string {
  return `${sandboxId}/snapshots/${name}`;
}
