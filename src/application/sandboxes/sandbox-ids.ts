import { SandboxError } from "./sandbox-errors";

declare const brand: unique symbol;
export type SandboxId = string & { readonly [brand]: "SandboxId" };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
/** `<fencing token>-<number>`: of the tenure that took it, so no two owners ever use one name for two contents. */
const SNAPSHOT_NAME = /^(\d{1,18})-(\d{1,9})$/;

export function parseSandboxId(text: string): SandboxId {
  const canonical = text.toLowerCase();
  if (!UUID.test(canonical)) throw new SandboxError("invalid_sandbox_id", "a sandbox id is a UUID");
  return canonical as SandboxId;
}

/** What is locked while an instance owns a sandbox. */
export function sandboxResourceId(id: SandboxId): string {
  return `sandbox:${id}`;
}

/** Which snapshot of which sandbox: the two together are its id, `<sandbox>.<name>`. */
export interface SnapshotAddress {
  readonly sandboxId: SandboxId;
  readonly name: string;
}

export function snapshotId({ sandboxId, name }: SnapshotAddress): string {
  return `${sandboxId}.${name}`;
}

/** Null for what cannot be the id of a snapshot. */
export function parseSnapshotId(text: string): SnapshotAddress | null {
  const [sandboxId = "", name = "", ...more] = text.toLowerCase().split(".");
  if (more.length > 0 || !UUID.test(sandboxId) || !SNAPSHOT_NAME.test(name)) return null;
  return { sandboxId: sandboxId as SandboxId, name };
}

/** The fencing token of the tenure that took it; null for a name of somebody else's making. */
export function fenceOfSnapshot(name: string): bigint | null {
  const fence = SNAPSHOT_NAME.exec(name)?.[1];
  return fence === undefined ? null : BigInt(fence);
}
