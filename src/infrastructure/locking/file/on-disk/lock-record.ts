import type { LockHolder } from "../../../../application/ports/lock-provider";
import type { Fate, Processes, ProcessIdentity } from "../exclusive-create/process-identity";

/** What a lock file says about the one who made it. One line of JSON, so that `cat` is enough to read it. */
export interface LockRecord extends ProcessIdentity {
  readonly resourceId: string;
  /** Unique per tenure: two records are the same tenure exactly if their nonces are equal. */
  readonly nonce: string;
  readonly task: string | null;
  /** ISO 8601. */
  readonly since: string;
  /** A command that runs under this lock and keeps it alive. */
  readonly childPid: number | null;
  readonly childStartTime: string | null;
  /** Kernel mode, where the file stays: the tenure has ended in order, and this only names who was last. */
  readonly released: boolean;
}

/** Told from other people's files by this field, which is written first. */
const MARK = '{"holdfast":1,';

export function serializeRecord(record: LockRecord): string {
  return `${MARK}${JSON.stringify(record).slice(1)}\n`;
}

/** Why a file tells of no holder. */
export type NoRecord =
  | "empty"
  /** Not written by Holdfast, and not ours to overwrite. */
  | "foreign"
  /** Ours, cut short by a crash of the machine. */
  | "torn"
  /** What a power failure leaves of a file whose length reached the disk and whose content did not. */
  | "zeros";

export function isZeros(text: string): boolean {
  return /^\0+$/.test(text);
}

/** Only the first line counts: what a longer record left behind a shorter one is covered, not cut off. */
export function parseRecord(text: string): LockRecord | NoRecord {
  if (text === "") return "empty";
  if (isZeros(text)) return "zeros";
  if (!text.startsWith(MARK)) return "foreign";
  const end = text.indexOf("\n");
  if (end === -1) return "torn";
  try {
    const value: unknown = JSON.parse(text.slice(0, end));
    return isRecord(value) ? value : "foreign";
  } catch {
    return "torn";
  }
}

/** Wrapper or child alive = live; a record nobody here can judge is `unknown`, which counts as held. */
export async function fateOfRecord(record: LockRecord, processes: Pick<Processes, "fateOf">): Promise<Fate> {
  const wrapper = await processes.fateOf(record);
  const child = childOf(record);
  return wrapper !== "gone" || child === null ? wrapper : processes.fateOf(child);
}

/** `web-2:4711:<nonce>`, the form that all locks use for the owner of one tenure. */
export function ownerIdOf(record: Pick<LockRecord, "host" | "pid" | "nonce">): string {
  return `${record.host}:${record.pid}:${record.nonce}`;
}

/** Names the child instead of the wrapper when only the child is left and keeps the lock. */
export async function holderOf(
  record: LockRecord,
  processes: Pick<Processes, "fateOf">,
): Promise<LockHolder> {
  const child = record.released ? null : childOf(record);
  const onlyChildLeft =
    child !== null &&
    (await processes.fateOf(record)) === "gone" &&
    (await processes.fateOf(child)) !== "gone";
  return {
    ownerId: ownerIdOf(record),
    host: record.host,
    pid: onlyChildLeft ? child.pid : record.pid,
    ...(record.task === null ? {} : { purpose: record.task }),
    since: new Date(record.since),
  };
}

function childOf(record: LockRecord): ProcessIdentity | null {
  if (record.childPid === null) return null;
  return { ...record, pid: record.childPid, startTime: record.childStartTime };
}

function isRecord(value: unknown): value is LockRecord {
  if (typeof value !== "object" || value === null) return false;
  const fields = value as Record<string, unknown>;
  const has = (name: keyof LockRecord, type: "string" | "number" | "boolean", nullable = false) =>
    typeof fields[name] === type || (nullable && fields[name] === null);
  return (
    has("pid", "number") &&
    has("host", "string") &&
    has("pidNamespace", "string", true) &&
    has("bootId", "string", true) &&
    has("startTime", "string", true) &&
    has("resourceId", "string") &&
    has("nonce", "string") &&
    has("task", "string", true) &&
    has("since", "string") &&
    !Number.isNaN(Date.parse(String(fields["since"]))) &&
    has("childPid", "number", true) &&
    has("childStartTime", "string", true) &&
    has("released", "boolean")
  );
}
