import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), "holdfast-mount-"));
  try {
    mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", folder);
    unmount(folder);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function mount(...args: readonly string[]): void {
  execFileSync("mount", args, { stdio: "pipe" });
}

/** Also while something is open there. */
export function unmount(place: string): void {
  execFileSync("umount", ["--lazy", place], { stdio: "pipe" });
}
