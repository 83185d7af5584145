import { closeSync, fstatSync, readSync, statSync, writeSync } from "node:fs";
import type { LockHolder } from "../../../../application/ports/lock-provider";
import { foreignFile, inWords } from "../file-lock-errors";
import type { HeldFile } from "../file-tenure";
import type { KernelLocks } from "./kernel-locks";
import {
  fateOfRecord,
  holderOf,
  parseRecord,
  serializeRecord,
  type LockRecord,
} from "../on-disk/lock-record";
import { openToWrite } from "../on-disk/plain-file";
import type { Processes } from "../exclusive-create/process-identity";
import { setAside } from "../on-disk/set-aside";

export type ModeAttempt =
  { readonly held: HeldFile } | { readonly held?: undefined; readonly holder?: LockHolder };

/**
 * The lock is the kernel's, on the open file, and ends when the last process that has it open is gone: at once after
 * `kill -9`. The file itself stays and names its last holder. It is never unlinked: one process could then wait on the
 * old file while another takes the new one.
 *
 * Each step is a synchronous call. They touch a few bytes that the system has in memory, the call for the lock itself has
 * no other form, and the thread pool's way there and back costs ten times what they do.
 */
export class KernelMode {
  constructor(
    private readonly kernelLocks: KernelLocks,
    private readonly processes: Processes,
  ) {}

  async attempt(path: string, own: LockRecord): Promise<ModeAttempt> {
    const fd = open(path);
    try {
      if (!this.kernelLocks.tryLock(fd)) {
        const holder = await this.holderIn(readWhole(fd), path);
        closeSync(fd);
        return holder === undefined ? {} : { holder };
      }
      // Somebody removed the file between open and lock: what we hold is a lock that nobody else will ever meet.
      if (isAnotherFile(fd, path)) {
        closeSync(fd);
        return {};
      }
      const found = readWhole(fd);
      const record = parseRecord(found);
      if (record === "foreign") throw foreignFile(path);
      // A copy: the file itself stays, because others may be waiting on it.
      if (record === "zeros") setAside(path);
      return { held: this.hold(fd, path, own, overwrite(fd, own, found)) };
    } catch (error) {
      // Closing ends the lock: nobody else has this descriptor yet.
      orNothing(() => closeSync(fd));
      throw error;
    }
  }

  private hold(fd: number, path: string, own: LockRecord, written: string): HeldFile {
    let current = own;
    const rewrite = (record: LockRecord): void => void (written = overwrite(fd, record, written));
    return {
      inheritableFd: fd,
      whyLost: () => (isAnotherFile(fd, path) ? `${path} was removed or replaced` : null),
      nameChild: async (pid) => {
        current = { ...current, childPid: pid, childStartTime: this.processes.startTimeOf(pid) };
        rewrite(current);
      },
      giveBack: async () => {
        // While it is still ours: afterwards the file may be another's. Also wakes those who watch it.
        orNothing(() => rewrite({ ...current, released: true }));
        // Closing is not enough: a daemon that inherited the descriptor would keep the lock. Where it fails, it has to do.
        orNothing(() => this.kernelLocks.unlock(fd));
        orNothing(() => closeSync(fd));
      },
    };
  }

  private async holderIn(content: string, path: string): Promise<LockHolder | undefined> {
    const record = parseRecord(content);
    if (record === "foreign") throw foreignFile(path);
    // Released or dead: the file names the one before, because the new holder has not written yet, or because the lock
    // lives on in a process that inherited the descriptor.
    if (typeof record === "string" || record.released) return undefined;
    return (await fateOfRecord(record, this.processes)) === "gone"
      ? undefined
      : holderOf(record, this.processes);
  }
}

function open(path: string): number {
  try {
    return openToWrite(path);
  } catch (error) {
    throw inWords(error, `open ${path}`);
  }
}

function readWhole(fd: number): string {
  const { size } = fstatSync(fd);
  const buffer = Buffer.alloc(size);
  return buffer.toString("utf8", 0, readSync(fd, buffer, 0, size, 0));
}

/**
 * In one write, so that a reader never meets half of each; where the record before was longer, line ends cover it. Returns
 * what is there now.
 */
function overwrite(fd: number, record: LockRecord, found: string): string {
  const content = serializeRecord(record);
  const padding = Buffer.byteLength(found) - Buffer.byteLength(content);
  const covering = padding > 0 ? content + "\n".repeat(padding) : content;
  writeSync(fd, covering, 0);
  return covering;
}

function orNothing(step: () => void): void {
  try {
    step();
  } catch {
    // Nothing can be done about it, and nothing depends on it.
  }
}

function isAnotherFile(fd: number, path: string): boolean {
  const own = fstatSync(fd, { bigint: true });
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there === undefined || there.ino !== own.ino || there.dev !== own.dev;
}
