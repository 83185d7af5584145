import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from "node:fs";
import { open, type FileHandle } from "node:fs/promises";
import { UnusableLockFileError } from "../file-lock-errors";
import { assertOwner } from "../directory/who-may-write";

/** Absent on Windows, where links need a privilege and pipes have names of their own. */
const { O_NOFOLLOW: NO_FOLLOW = 0, O_NONBLOCK: WITHOUT_WAITING = 0 } = constants as Partial<typeof constants>;

const READ = constants.O_RDONLY | NO_FOLLOW | WITHOUT_WAITING;
const WRITE = constants.O_RDWR | constants.O_CREAT | NO_FOLLOW | WITHOUT_WAITING;
const APPEND = WRITE | constants.O_APPEND;

/**
 * What lies under a lock's name is opened by these alone. A pipe in its place would make a plain `open` wait for ever, a
 * link would lead out of the directory, and what others may write they could change while it is locked. So: never
 * waiting, never following, and then a look at what it is.
 */
export async function openToRead(path: string): Promise<FileHandle> {
  const file = await open(path, READ).catch((error: unknown) => refuse(error, path));
  try {
    assertFile(await file.stat(), path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

export function readNow(path: string): string {
  const fd = openNow(path, READ);
  try {
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** Made if it is missing, and nobody's but this user's and the administrator's. */
export function openToWrite(path: string): number {
  return openOwn(path, WRITE);
}

export function openToAppend(path: string): number {
  return openOwn(path, APPEND);
}

function openOwn(path: string, flags: number): number {
  const fd = openNow(path, flags);
  try {
    assertOwner(fstatSync(fd).uid, path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function openNow(path: string, flags: number): number {
  const fd = tryOpen(path, flags);
  try {
    assertFile(fstatSync(fd), path);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function tryOpen(path: string, flags: number): number {
  try {
    return openSync(path, flags, 0o600);
  } catch (error) {
    return refuse(error, path);
  }
}

const REFUSED: Readonly<Record<string, string>> = {
  ELOOP: "a symbolic link",
  EISDIR: "a directory",
  ENXIO: "a socket or a device",
};

function refuse(error: unknown, path: string): never {
  const { code = "" } = error as NodeJS.ErrnoException;
  const kind = REFUSED[code];
  throw kind === undefined ? error : noLockFile(path, kind, error);
}

function assertFile(stats: Stats, path: string): void {
  if (stats.isFile()) return;
  const kind = stats.isFIFO() ? "a pipe" : stats.isDirectory() ? "a directory" : "a device";
  throw noLockFile(path, kind);
}

function noLockFile(path: string, kind: string, cause?: unknown): UnusableLockFileError {
  const message = `${path} is ${kind} and no file of a lock: remove it, or use another directory`;
  return new UnusableLockFileError(message, { cause });
}
