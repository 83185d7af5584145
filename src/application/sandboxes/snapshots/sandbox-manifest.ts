import type { MerchantId } from "../../../domain/identifiers";
import { SnapshotStoreError } from "../../ports/snapshot-store";
import type { SandboxId } from "../sandbox-ids";

/** What is known of a snapshot without reading it. */
export interface SnapshotInfo {
  readonly name: string;
  readonly createdAt: Date;
  readonly bytes: number;
  /** SHA-256 of the bytes, in hex. */
  readonly checksum: string;
}

/** The one record that says whose a sandbox is, who owns it now and which snapshot counts. */
export interface SandboxManifest {
  readonly sandboxId: SandboxId;
  readonly merchant: MerchantId;
  readonly createdAt: Date;
  /** Of the tenure that wrote it: whoever finds a greater one here than its own owns nothing any more. */
  readonly fence: bigint;
  readonly ownerUrl: string;
  readonly snapshot: SnapshotInfo | null;
  /** The one before it, for when it turns out to be damaged. */
  readonly previous: SnapshotInfo | null;
  /** Taken because somebody asked for them: kept until the sandbox is deleted. Newest first. */
  readonly kept: readonly SnapshotInfo[];
}

const FORMAT = 1;

export function manifestText(manifest: SandboxManifest): string {
  return JSON.stringify({
    format: FORMAT,
    ...manifest,
    createdAt: manifest.createdAt.toISOString(),
    fence: manifest.fence.toString(),
    snapshot: manifest.snapshot && infoJson(manifest.snapshot),
    previous: manifest.previous && infoJson(manifest.previous),
    kept: manifest.kept.map(infoJson),
  });
}

/** Rejects, in words, what is no manifest of this format: it may be a newer version's, and must not be overwritten. */
export function parseManifest(text: string, sandboxId: string): SandboxManifest {
  try {
    const read = record(JSON.parse(text));
    if (read["format"] !== FORMAT) throw new Error(`its format is ${String(read["format"])}, not ${FORMAT}`);
    if (read["sandboxId"] !== sandboxId) throw new Error("it belongs to another sandbox");
    const kept = read["kept"];
    if (!Array.isArray(kept)) throw new Error("kept is not a list");
    return {
      sandboxId: sandboxId as SandboxId,
      merchant: string(read["merchant"]) as MerchantId,
      createdAt: instant(read["createdAt"]),
      fence: BigInt(string(read["fence"])),
      ownerUrl: string(read["ownerUrl"]),
      snapshot: infoOrNull(read["snapshot"]),
      previous: infoOrNull(read["previous"]),
      kept: kept.map(info),
    };
  } catch (error) {
    throw new SnapshotStoreError(
      `the manifest of sandbox ${sandboxId} is not readable: ${(error as Error).message}`,
      {
        cause: error,
      },
    );
  }
}

function infoJson(snapshot: SnapshotInfo): object {
  return { ...snapshot, createdAt: snapshot.createdAt.toISOString() };
}

function infoOrNull(value: unknown): SnapshotInfo | null {
  return value === null ? null : info(value);
}

function info(value: unknown): SnapshotInfo {
  const read = record(value);
  const { bytes } = read;
  if (typeof bytes !== "number" || !Number.isSafeInteger(bytes)) throw new Error("bytes is not a number");
  return {
    name: string(read["name"]),
    createdAt: instant(read["createdAt"]),
    bytes,
    checksum: string(read["checksum"]),
  };
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw new Error("an object is missing");
  return value as Readonly<Record<string, unknown>>;
}

function string(value: unknown): string {
  if (typeof value !== "string") throw new Error("a text is missing");
  return value;
}

function instant(value: unknown): Date {
  const date = new Date(string(value));
  if (Number.isNaN(date.getTime())) throw new Error("an instant is missing");
  return date;
}
