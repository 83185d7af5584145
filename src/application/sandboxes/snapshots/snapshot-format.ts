import { createHash } from "node:crypto";

/** A snapshot as it was taken: what the world holds, and where it comes from. */
export interface SandboxSnapshot {
  readonly sandboxId: string;
  readonly takenAt: Date;
  /** JSON; only the world that made it knows what it means. */
  readonly content: unknown;
}

/** In words that can be shown: it tells what is wrong, not what was read. */
export class DamagedSnapshotError extends Error {
  override readonly name = "DamagedSnapshotError";
}

const KIND = "holdfast sandbox snapshot";
const FORMAT = 1;
const NEWLINE = 0x0a;

/**
 * One line that says what follows, with the SHA-256 of it, then the content as JSON. The first line can be read by
 * whoever finds the file; the checksum is over bytes, so no reader has to write JSON the way we do.
 */
export function encodeSnapshot({ sandboxId, takenAt, content }: SandboxSnapshot): Uint8Array {
  const body = Buffer.from(JSON.stringify(content));
  const header = {
    kind: KIND,
    format: FORMAT,
    sandbox: sandboxId,
    takenAt: takenAt.toISOString(),
    sha256: sha256(body),
  };
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body]);
}

/** Throws `DamagedSnapshotError` on everything that is not, byte for byte, what was once taken. */
export function decodeSnapshot(bytes: Uint8Array): SandboxSnapshot {
  const end = bytes.indexOf(NEWLINE);
  const header = headerOf(Buffer.from(bytes.subarray(0, Math.max(0, end))).toString());
  if (header["kind"] !== KIND) throw new DamagedSnapshotError("it does not begin as a snapshot does");
  if (header["format"] !== FORMAT) {
    throw new DamagedSnapshotError(
      `its format is ${String(header["format"])}, and this version reads ${FORMAT}`,
    );
  }
  const body = bytes.subarray(end + 1);
  if (sha256(body) !== header["sha256"]) {
    throw new DamagedSnapshotError("its content is not what its checksum was made of");
  }
  return {
    sandboxId: String(header["sandbox"]),
    takenAt: new Date(String(header["takenAt"])),
    content: JSON.parse(Buffer.from(body).toString()),
  };
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function headerOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const header: unknown = JSON.parse(line);
    if (typeof header === "object" && header !== null) return header as Readonly<Record<string, unknown>>;
  } catch {
    // Told below.
  }
  throw new DamagedSnapshotError("its first line is not readable");
}
