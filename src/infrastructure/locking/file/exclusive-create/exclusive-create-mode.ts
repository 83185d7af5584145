import { setTimeout as sleep } from "node:timers/promises";
import {
  removeExclusively,
  rewriteExclusively,
  takeExclusively,
  type ExclusiveLockParts,
} from "./exclusive-lock";
import { UnusableLockFileError } from "../file-lock-errors";
import type { HeldFile } from "../file-tenure";
import type { ModeAttempt } from "../kernel/kernel-mode";
import { isMissing, type LockFiles } from "../on-disk/lock-files";
import { fateOfRecord, holderOf, parseRecord, type LockRecord } from "../on-disk/lock-record";
import { readNow } from "../on-disk/plain-file";
import type { Fate, Processes } from "./process-identity";

/** Somebody replacing a file needs milliseconds; more than the longest pause means that it is stopped, not slow. */
const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 1000;

/** The lock is the file, and a dead holder's file is taken over when its process is gone. */
export class ExclusiveCreateMode {
  private readonly parts: ExclusiveLockParts;
  /** Ours, over, and still on the disk, because it did not answer when they should have been removed. */
  private readonly abandoned = new Set<string>();

  constructor(
    files: LockFiles,
    private readonly processes: Processes,
    /** Fires when the backend closes: a file that could not be removed by then is left to the next one's PID check. */
    private readonly closing: AbortSignal,
  ) {
    const fateOf = async (record: LockRecord): Promise<Fate> =>
      this.abandoned.has(record.nonce) ? "gone" : fateOfRecord(record, processes);
    this.parts = { files, fateOf };
  }

  async attempt(path: string, own: LockRecord): Promise<ModeAttempt> {
    try {
      const taken = await takeExclusively(this.parts, path, own);
      if (taken.taken) return { held: this.hold(path, own) };
      return taken.by === undefined ? {} : { holder: await holderOf(taken.by, this.processes) };
    } catch (error) {
      // The failure may have come after the file was made.
      await this.giveBack(path, own);
      throw error;
    }
  }

  private hold(path: string, own: LockRecord): HeldFile {
    let current = own;
    return {
      whyLost: () => whyNotOwn(path, own.nonce),
      nameChild: async (pid) => {
        const childStartTime = this.processes.startTimeOf(pid);
        // Ended already: a number without its start time could be mistaken for a later process.
        if (childStartTime === null && own.startTime !== null) return;
        current = { ...current, childPid: pid, childStartTime };
        await this.untilNotBusy(() => rewriteExclusively(this.parts, path, current));
      },
      giveBack: () => this.giveBack(path, current),
    };
  }

  private async giveBack(path: string, own: LockRecord): Promise<void> {
    const isOwn = (record: LockRecord) => record.nonce === own.nonce;
    try {
      await this.untilNotBusy(() => removeExclusively(this.parts, path, own, isOwn));
    } catch {
      // To others it is held for as long as this process lives; at least we ourselves know better.
      this.abandoned.add(own.nonce);
    }
  }

  /** Bounded by the life of the process that is in the way: a dead one's breaker is taken over. */
  private async untilNotBusy(change: () => Promise<string>): Promise<void> {
    for (let pauseMs = FIRST_PAUSE_MS; (await change()) === "busy"; pauseMs *= 2) {
      await sleep(Math.min(pauseMs, LONGEST_PAUSE_MS), undefined, { signal: this.closing });
    }
  }
}

function whyNotOwn(path: string, nonce: string): string | null {
  let content: string;
  try {
    content = readNow(path);
  } catch (error) {
    if (isMissing(error)) return `${path} was removed`;
    return error instanceof UnusableLockFileError ? `${path} was replaced` : null;
  }
  const record = parseRecord(content);
  if (typeof record === "string") return `${path} was overwritten`;
  return record.nonce === nonce ? null : `${path} now belongs to pid ${record.pid} on ${record.host}`;
}
