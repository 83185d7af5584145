import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";

/** Enough to tell one process from a later one with the same number. What a platform cannot tell is null. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly host: string;
  /** Linux: the number means something only inside this namespace. */
  readonly pidNamespace: string | null;
  readonly bootId: string | null;
  /** Linux: clock ticks from boot to the start of the process. */
  readonly startTime: string | null;
}

/** `unknown`: not on this host or not in this PID namespace, so nothing here can tell. */
export type Fate = "alive" | "gone" | "unknown";

export interface Processes {
  self(): ProcessIdentity;
  /** When a process started, to name it exactly; null where the platform does not tell, or when it is gone already. */
  startTimeOf(pid: number): string | null;
  /**
   * `gone` is final: a process that was gone once is gone for ever, and so whatever it left behind changes no more.
   * The takeover of a stale lock rests on that.
   */
  fateOf(identity: ProcessIdentity): Promise<Fate>;
}

/** Linux tells exactly, by /proc. Elsewhere a reused number counts as alive: rather held too long than held twice. */
export class LocalProcesses implements Processes {
  private own?: ProcessIdentity;

  self(): ProcessIdentity {
    this.own ??= {
      pid: process.pid,
      host: hostname(),
      pidNamespace: orNull(() => readlinkSync("/proc/self/ns/pid")),
      bootId: orNull(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()),
      startTime: this.startTimeOf(process.pid),
    };
    return this.own;
  }

  startTimeOf(pid: number): string | null {
    return readStat(pid)?.startTime ?? null;
  }

  async fateOf(identity: ProcessIdentity): Promise<Fate> {
    const self = this.self();
    if (identity.host !== self.host || identity.pidNamespace !== self.pidNamespace) return "unknown";
    if (identity.bootId !== self.bootId)
      return identity.bootId === null || self.bootId === null ? "unknown" : "gone";
    const stat = readStat(identity.pid);
    if (stat === null) return answersSignals(identity.pid) ? "alive" : "gone";
    if (stat.dead) return "gone";
    return identity.startTime === null || identity.startTime === stat.startTime ? "alive" : "gone";
  }
}

/** Fields 3, 20 and 22 of /proc/<pid>/stat, counted after the name in brackets, which may contain spaces and brackets. */
function readStat(pid: number): { startTime: string; dead: boolean } | null {
  const text = orNull(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (text === null) return null;
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, threads, startTime] = [fields[0], fields[17], fields[19]];
  if (startTime === undefined) return null;
  // A zombie waits only to be counted by its parent; with threads left over, just its first thread has ended.
  return { startTime, dead: (state === "Z" || state === "X") && Number(threads) <= 1 };
}

/** /proc may hide the processes of other users (hidepid), a signal finds them: EPERM means there is somebody. */
function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

function orNull<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
