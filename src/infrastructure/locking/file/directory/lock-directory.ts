import { closeSync } from "node:fs";
import { join, resolve } from "node:path";
import { inWords, UnusableLockFileError } from "../file-lock-errors";
import type { KernelLocks } from "../kernel/kernel-locks";
import { makeDirectory } from "./make-directory";
import type { LockFiles } from "../on-disk/lock-files";
import { openToWrite } from "../on-disk/plain-file";
import { assertOwnDirectory } from "./who-may-write";

/** `kernel`: a lock on an open file. `exclusive-create`: a file's existence. The two do not exclude each other. */
export type FileLockMode = "kernel" | "exclusive-create";

export const MODE_FILE = "MODE";

export interface LockDirectory {
  readonly path: string;
  readonly mode: FileLockMode;
  /** Present in kernel mode. */
  readonly kernelLocks?: KernelLocks;
}

export interface DirectoryParts {
  readonly files: LockFiles;
  readonly loadKernelLocks: () => KernelLocks;
  /** The name of the network filesystem that a directory is on, or null. */
  readonly networkFilesystemOf: (directory: string) => Promise<string | null>;
}

/**
 * Makes the directory if it is missing and binds it to one mode for ever: whoever comes first writes `MODE`, and a
 * process that cannot take locks of that kind refuses rather than lock beside the others.
 */
export async function openLockDirectory(
  parts: DirectoryParts,
  directory: string,
  wanted: FileLockMode | "auto",
): Promise<LockDirectory> {
  const path = resolve(directory);
  await makeDirectory(path);
  assertOwnDirectory(path);
  const modeFile = join(path, MODE_FILE);
  let bound = await boundMode(parts.files, modeFile);
  const offer = (bound ?? wanted) === "exclusive-create" ? undefined : await kernelLocksOn(parts, path);

  if (bound === null) {
    const choice = wanted === "auto" ? (offer?.kernelLocks ? "kernel" : "exclusive-create") : wanted;
    if (choice === "kernel" && !offer?.kernelLocks)
      throw cannot(path, "was asked for kernel locks", offer?.reason);
    await parts.files.create(modeFile, `${choice}\n`);
    // Read back: somebody else may have been first.
    bound = await boundMode(parts.files, modeFile);
  }
  if (wanted !== "auto" && bound !== null && bound !== wanted)
    throw new UnusableLockFileError(
      `${path} is bound to ${bound} locks by its file ${MODE_FILE}, and ${wanted} locks would not exclude those; use another directory, or end every process that locks in this one and remove ${modeFile}`,
    );
  if (bound === "exclusive-create") return { path, mode: bound };
  if (!offer?.kernelLocks) throw cannot(path, "is bound to kernel locks", offer?.reason);
  return { path, mode: "kernel", kernelLocks: offer.kernelLocks };
}

/** Null if the directory is bound to no mode yet. */
export async function boundMode(files: LockFiles, modeFile: string): Promise<FileLockMode | null> {
  const content = (await files.read(modeFile))?.trim();
  if (content === undefined) return null;
  if (content === "kernel" || content === "exclusive-create") return content;
  throw new UnusableLockFileError(
    `${modeFile} names no lock mode known here (kernel, exclusive-create); use another directory, or end every process that locks in this one and remove it`,
  );
}

type Offer =
  { readonly kernelLocks: KernelLocks } | { readonly kernelLocks?: undefined; readonly reason: string };

/** Found out by trying, on a file that nobody locks for longer than this. */
async function kernelLocksOn(parts: DirectoryParts, path: string): Promise<Offer> {
  let kernelLocks: KernelLocks;
  try {
    kernelLocks = parts.loadKernelLocks();
  } catch (error) {
    return { reason: `fs-native-extensions has no binary for this platform: ${messageOf(error)}` };
  }
  const network = await parts.networkFilesystemOf(path);
  if (network !== null)
    return { reason: `it is on a network (${network}), whose server may forget locks that are still held` };
  const probe = join(path, "PROBE");
  try {
    const fd = openToWrite(probe);
    try {
      // Refused because another process is probing is an answer, too.
      if (kernelLocks.tryLock(fd)) kernelLocks.unlock(fd);
      return { kernelLocks };
    } catch (error) {
      return { reason: `the filesystem refuses them: ${messageOf(error)}` };
    } finally {
      closeSync(fd);
      await parts.files.remove(probe);
    }
  } catch (error) {
    throw inWords(error, `create ${probe}`);
  }
}

function cannot(
  path: string,
  what: string,
  reason = "it has changed its mode meanwhile",
): UnusableLockFileError {
  return new UnusableLockFileError(
    `${path} ${what}, which this process cannot take (${reason}); use another directory with the mode exclusive-create (file:<dir>?mode=exclusive-create)`,
  );
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
