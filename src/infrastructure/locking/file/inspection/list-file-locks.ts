import { readdir } from "node:fs/promises";
import { basename, join, resolve } from "node:path";
import type { LockHolder } from "../../../../application/ports/lock-provider";
import { foreignFile, inWords, orUnavailable, UnusableLockFileError } from "../file-lock-errors";
import { readKernelLockTable, type KernelLockTable } from "../kernel/kernel-lock-table";
import { loadKernelLocks } from "../kernel/kernel-locks";
import { boundMode, MODE_FILE, type FileLockMode } from "../directory/lock-directory";
import { decodeLockName, lockFileName } from "../on-disk/lock-file-name";
import { NodeLockFiles, type LockFiles } from "../on-disk/lock-files";
import { fateOfRecord, holderOf, parseRecord, type LockRecord, type NoRecord } from "../on-disk/lock-record";
import { LocalProcesses, type Processes } from "../exclusive-create/process-identity";

/**
 * `abandoned`: an exclusive-create file whose holder is dead; the next caller takes it over. `unknown`: a kernel lock
 * where the platform does not tell, an exclusive-create file of another host or PID namespace (counts as held), or
 * something that is not ours.
 */
export type FileLockState = "held" | "free" | "abandoned" | "unknown";

export interface ListedFileLock {
  readonly resourceId: string;
  readonly mode: FileLockMode;
  readonly state: FileLockState;
  readonly file: string;
  /** Of a free lock: who had it last. */
  readonly holder?: LockHolder;
  /** Kernel mode: who has to end for the lock to be free. May include a process that was started under the lock. */
  readonly processes: readonly number[];
  /** Why nothing can be said about it. */
  readonly remark?: string;
}

const SUFFIX = ".lock";

/** All locks of a directory, without taking any. A directory that does not exist has none. */
export function listFileLocks(directory: string): Promise<ListedFileLock[]> {
  return orUnavailable(directory, async () => {
    const look = await lookInto(directory);
    if (look === null) return [];
    const found: ListedFileLock[] = [];
    // One after the other: a directory may hold more files than a process may open.
    for (const name of await namesIn(look.directory)) {
      const lock = name.endsWith(SUFFIX) ? await describe(look, join(look.directory, name)) : null;
      if (lock !== null) found.push(lock);
    }
    return found.sort((a, b) => (a.resourceId < b.resourceId ? -1 : 1));
  });
}

/** One lock, or null if its file does not exist (it was never taken; in exclusive-create mode: it is free). */
export function showFileLock(directory: string, resourceId: string): Promise<ListedFileLock | null> {
  return orUnavailable(resourceId, async () => {
    const look = await lookInto(directory);
    return look === null ? null : describe(look, join(look.directory, lockFileName(resourceId)));
  });
}

interface Look {
  readonly directory: string;
  readonly mode: FileLockMode;
  readonly files: LockFiles;
  readonly processes: Processes;
  readonly table: KernelLockTable | null;
}

async function lookInto(given: string): Promise<Look | null> {
  const directory = resolve(given);
  const files = new NodeLockFiles();
  const mode = await boundMode(files, join(directory, MODE_FILE));
  if (mode === null) return null;
  const table = mode === "kernel" ? await tableOf(directory) : null;
  return { directory, mode, files, processes: new LocalProcesses(), table };
}

async function namesIn(directory: string): Promise<string[]> {
  try {
    return await readdir(directory);
  } catch (error) {
    throw inWords(error, `list ${directory}`);
  }
}

async function tableOf(directory: string): Promise<KernelLockTable | null> {
  try {
    return await readKernelLockTable(directory, loadKernelLocks());
  } catch {
    return null;
  }
}

async function describe(look: Look, file: string): Promise<ListedFileLock | null> {
  let content: string | null;
  try {
    content = await look.files.read(file);
  } catch (error) {
    if (!(error instanceof UnusableLockFileError)) throw error;
    // One that cannot be looked at must not hide all the others.
    const unknown = { resourceId: idFromName(file), mode: look.mode, state: "unknown", file } as const;
    return { ...unknown, processes: [], remark: error.message };
  }
  if (content === null) return null;
  const record = parseRecord(content);
  const known = typeof record !== "string";
  const state = await stateOf(look, file, record);
  const remark = isForeign(look, record) ? { remark: foreignFile(file).message } : {};
  const holder = known ? { holder: await holderOf(record, look.processes) } : {};
  return {
    resourceId: known ? record.resourceId : idFromName(file),
    mode: look.mode,
    state,
    file,
    ...holder,
    ...remark,
    processes: state === "held" && look.table !== null ? look.table.processesWithOpen(file) : [],
  };
}

/** A caller would refuse it. What is cut short can be written over only where the kernel says that it is free. */
function isForeign({ mode }: Look, record: LockRecord | NoRecord): boolean {
  if (mode === "kernel") return record === "foreign";
  return typeof record === "string" && record !== "zeros";
}

async function stateOf(look: Look, file: string, record: LockRecord | NoRecord): Promise<FileLockState> {
  if (look.mode === "kernel") {
    if (look.table === null) return "unknown";
    if (look.table.isHeld(file)) return "held";
    return isForeign(look, record) ? "unknown" : "free";
  }
  if (record === "zeros") return "abandoned";
  if (typeof record === "string") return "unknown";
  const fate = await fateOfRecord(record, look.processes);
  return ({ alive: "held", gone: "abandoned", unknown: "unknown" } as const)[fate];
}

function idFromName(file: string): string {
  const name = basename(file, SUFFIX);
  return decodeLockName(name) ?? name;
}
