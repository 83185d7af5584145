import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";
import type { KernelLocks } from "./kernel-locks";
import { MODE_FILE } from "../directory/lock-directory";
import { openToRead } from "../on-disk/plain-file";

/** Who has which kernel lock, without touching the locks themselves. Linux tells; elsewhere nobody does. */
export interface KernelLockTable {
  isHeld(path: string): boolean;
  /** The processes that have the locked file open, as far as this user may see: the holder, and what inherited it. */
  processesWithOpen(path: string): number[];
}

/**
 * Reads `/proc/locks`. It names files by device and inode, but on some filesystems (btrfs, overlays) not by the device
 * that `stat` tells: so this takes a shared lock on `MODE`, looks up how the kernel calls that, and expects the same
 * device for the neighbours. Null where this does not add up.
 */
export async function readKernelLockTable(
  directory: string,
  kernelLocks: KernelLocks,
): Promise<KernelLockTable | null> {
  try {
    const device = await deviceAsTheKernelCallsIt(directory, kernelLocks);
    if (device === null) return null;
    const held = new Set(readFileSync("/proc/locks", "utf8").match(/[0-9a-f]+:[0-9a-f]+:\d+/g));
    return {
      isHeld: (path) => held.has(`${device}:${inodeOf(path)}`),
      processesWithOpen,
    };
  } catch {
    return null;
  }
}

async function deviceAsTheKernelCallsIt(directory: string, kernelLocks: KernelLocks): Promise<string | null> {
  const path = join(directory, MODE_FILE);
  const file = await openToRead(path);
  try {
    if (!kernelLocks.tryLock(file.fd, { shared: true })) return null;
    const info = readFileSync(`/proc/self/fdinfo/${file.fd}`, "utf8");
    const [, device, inode] = /^lock:.*\s([0-9a-f]+:[0-9a-f]+):(\d+)\s/m.exec(info) ?? [];
    return device !== undefined && inode === inodeOf(path) ? device : null;
  } finally {
    await file.close();
  }
}

function inodeOf(path: string): string {
  return statSync(path, { bigint: true }).ino.toString();
}

function processesWithOpen(path: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => openFilesOf(pid).includes(path))
    .map(Number);
}

/** None, if the process has ended meanwhile or belongs to somebody else. */
function openFilesOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
      } catch {
        return [];
      }
    });
  } catch {
    return [];
  }
}
