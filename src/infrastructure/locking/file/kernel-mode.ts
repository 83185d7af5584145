import { fstatSync, readSync, statSync } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import type { LockHolder } from "../../../application/ports/lock-provider";
import { foreignFile, inWords } from "./file-lock-errors";
import type { HeldFile } from "./file-tenure";
import type { KernelLocks } from "./kernel-locks";
import { READ_WRITE_OR_CREATE } from "./lock-files";
import { fateOfRecord, holderOf, parseRecord, serializeRecord, type LockRecord } from "./lock-record";
import type { Processes } from "./process-identity";

export type ModeAttempt =
  { readonly held: HeldFile } | { readonly held?: undefined; readonly holder?: LockHolder };

/**
 * The lock is the kernel's, on the open file, and ends when the last process that has it open is gone: at once after
 * `kill -9`. The file itself stays and names its last holder. It is never unlinked: one process could then wait on the
 * old file while another takes the new one.
 */
export class KernelMode {
  constructor(
    private readonly kernelLocks: KernelLocks,
    private readonly processes: Processes,
  ) {}

  async attempt(path: string, own: LockRecord): Promise<ModeAttempt> {
    let file: FileHandle;
    try {
      file = await open(path, READ_WRITE_OR_CREATE, 0o600);
    } catch (error) {
      throw inWords(error, `open ${path}`);
    }
    try {
      if (!this.kernelLocks.tryLock(file.fd)) {
        const holder = await this.holderIn(file, path);
        await file.close();
        return holder === undefined ? {} : { holder };
      }
      // Somebody removed the file between open and lock: what we hold is a lock that nobody else will ever meet.
      if (isAnotherFile(file.fd, path)) {
        await file.close();
        return {};
      }
      if (parseRecord(readWhole(file)) === "foreign") throw foreignFile(path);
      await overwrite(file, own);
    } catch (error) {
      // Closing ends the lock: nobody else has this descriptor yet.
      await file.close().catch(() => {});
      throw error;
    }
    return { held: this.hold(file, path, own) };
  }

  private hold(file: FileHandle, path: string, own: LockRecord): HeldFile {
    let current = own;
    return {
      inheritableFd: file.fd,
      whyLost: () => (isAnotherFile(file.fd, path) ? `${path} was removed or replaced` : null),
      nameChild: async (pid) => {
        current = { ...current, childPid: pid, childStartTime: this.processes.startTimeOf(pid) };
        await overwrite(file, current);
      },
      giveBack: async () => {
        // While it is still ours: afterwards the file may be another's. Also wakes those who watch it.
        await overwrite(file, { ...current, released: true }).catch(() => {});
        try {
          // Closing is not enough: a daemon that inherited the descriptor would keep the lock.
          this.kernelLocks.unlock(file.fd);
        } catch {
          // Closing has to do.
        }
        await file.close().catch(() => {});
      },
    };
  }

  private async holderIn(file: FileHandle, path: string): Promise<LockHolder | undefined> {
    const record = parseRecord(orNothing(() => readWhole(file)));
    if (record === "foreign") throw foreignFile(path);
    // Released or dead: the file names the one before, because the new holder has not written yet, or because the lock
    // lives on in a process that inherited the descriptor.
    if (typeof record === "string" || record.released) return undefined;
    return (await fateOfRecord(record, this.processes)) === "gone"
      ? undefined
      : holderOf(record, this.processes);
  }
}

/**
 * Not by the thread pool: each who waits reads these few cached bytes once a second, and the way there and back would
 * cost several times the reading.
 */
function readWhole(file: FileHandle): string {
  const { size } = fstatSync(file.fd);
  const buffer = Buffer.alloc(size);
  return buffer.toString("utf8", 0, readSync(file.fd, buffer, 0, size, 0));
}

function orNothing(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

/** One write and then the cut, so that a reader in between meets a whole first line with rubbish behind it. */
async function overwrite(file: FileHandle, record: LockRecord): Promise<void> {
  const content = Buffer.from(serializeRecord(record));
  await file.write(content, 0, content.length, 0);
  await file.truncate(content.length);
}

function isAnotherFile(fd: number, path: string): boolean {
  const own = fstatSync(fd, { bigint: true });
  const there = statSync(path, { bigint: true, throwIfNoEntry: false });
  return there === undefined || there.ino !== own.ino || there.dev !== own.dev;
}
