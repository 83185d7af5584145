import { userInfo } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { nonce } from "../../nonce";
import { appendAudit } from "../on-disk/audit-file";
import { removeExclusively } from "../exclusive-create/exclusive-lock";
import { foreignFile, orUnavailable, UnusableLockFileError } from "../file-lock-errors";
import { showFileLock, type ListedFileLock } from "./list-file-locks";
import { NodeLockFiles } from "../on-disk/lock-files";
import { fateOfRecord, ownerIdOf, parseRecord, type LockRecord } from "../on-disk/lock-record";
import { LocalProcesses } from "../exclusive-create/process-identity";

const MOST_TRIES = 10;
const PAUSE_MS = 50;

export interface LockBreak {
  readonly at: string;
  readonly action: "break";
  readonly resourceId: string;
  /** Whose lock it was. */
  readonly ownerId: string;
  readonly since: string;
  readonly by: { readonly host: string; readonly pid: number; readonly user: string };
}

export type BreakResult =
  | { readonly outcome: "broken"; readonly audit: LockBreak }
  | { readonly outcome: "not_held" }
  /** Somebody else has it by now than the one who was named. */
  | { readonly outcome: "held_by_another"; readonly lock: ListedFileLock }
  /** Somebody is taking it over or giving it back at this moment. */
  | { readonly outcome: "busy" }
  /** The kernel's lock ends with its processes and not before. */
  | { readonly outcome: "end_the_processes"; readonly lock: ListedFileLock };

/**
 * Takes a lock away from a holder that only a person can know to be gone: on another host, or in another container. If
 * that holder lives after all, two are inside from then on; it learns of it within seconds, by its hold's signal.
 */
export function breakFileLock(
  directory: string,
  resourceId: string,
  ifHeldBy: string,
  nowMs: number = Date.now(),
): Promise<BreakResult> {
  return orUnavailable(resourceId, () => breakIt(directory, resourceId, ifHeldBy, nowMs));
}

async function breakIt(
  directory: string,
  resourceId: string,
  ifHeldBy: string,
  nowMs: number,
): Promise<BreakResult> {
  const lock = await showFileLock(directory, resourceId);
  if (lock === null || lock.state === "free") return { outcome: "not_held" };
  if (lock.remark !== undefined) throw new UnusableLockFileError(lock.remark);
  if (lock.mode === "kernel") return { outcome: "end_the_processes", lock };
  const files = new NodeLockFiles();
  const processes = new LocalProcesses();
  const record = parseRecord((await files.read(lock.file)) ?? "");
  if (record === "empty" || record === "zeros") return { outcome: "not_held" };
  if (typeof record === "string") throw foreignFile(lock.file);
  const isMeant = (found: LockRecord) => ownerIdOf(found) === ifHeldBy;
  if (!isMeant(record)) return { outcome: "held_by_another", lock };

  const self = processes.self();
  const at = new Date(nowMs).toISOString();
  const audit: LockBreak = {
    at,
    action: "break",
    resourceId,
    ownerId: ifHeldBy,
    since: record.since,
    by: { host: self.host, pid: self.pid, user: userInfo().username },
  };
  const claim: LockRecord = {
    ...self,
    resourceId,
    nonce: nonce(8),
    task: "locks break",
    since: at,
    childPid: null,
    childStartTime: null,
    released: false,
  };
  const fateOf = (found: LockRecord) => fateOfRecord(found, processes);
  // First the line, then the deed: no lock is ever broken without a trace.
  const write = async () => appendAudit(directory, audit);
  const remove = () => removeExclusively({ files, fateOf }, lock.file, claim, isMeant, write);
  let changed = await remove();
  // The holder itself is in the way for a moment, when it notes down the command that it has begun.
  for (let tries = 1; changed === "busy" && tries < MOST_TRIES; tries += 1) {
    await sleep(PAUSE_MS);
    changed = await remove();
  }
  if (changed === "changed") return { outcome: "broken", audit };
  return changed === "busy" ? { outcome: "busy" } : { outcome: "held_by_another", lock };
}
