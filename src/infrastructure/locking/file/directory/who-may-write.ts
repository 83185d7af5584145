import { closeSync, fstatSync, lstatSync, openSync, statSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { nonce } from "../../nonce";
import { inWords, UnusableLockFileError } from "../file-lock-errors";

/** Group and others. */
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;
const ADMINISTRATOR = 0;

/**
 * As ssh treats its keys: nobody but this user and the administrator may write where locks are. Whoever else could take
 * a lock away from under its holder, or set a counter of fencing tokens back.
 */
export function assertOwner(uid: number, path: string, self = process.geteuid?.()): void {
  if (self === undefined || uid === self || uid === ADMINISTRATOR) return;
  throw new UnusableLockFileError(
    `${path} belongs to another user (${uid}; this process runs as ${self}), who could take locks away: use a directory of your own`,
  );
}

/**
 * One in which others may only add (`/tmp`) is refused, too: who writes its `MODE` first decides how everybody locks
 * there. A directory of one's own inside it is what is wanted, and is made on demand.
 */
export function assertOwnDirectory(path: string): void {
  if (process.geteuid === undefined) return;
  try {
    // Of a link, too: whoever owns it may lead it elsewhere at any time.
    assertOwner(lstatSync(path).uid, path);
    const { uid, mode } = statSync(path);
    assertOwner(uid, path);
    if (mayOthersWrite(mode, () => modeOfNewFile(path))) throw writableByOthers(path, mode);
  } catch (error) {
    throw inWords(error, `look at the directory ${path}`);
  }
}

/** Some filesystems show one and the same for everything (Windows disks in a virtual machine), and that says nothing. */
export function mayOthersWrite(directoryMode: number, newFileMode: () => number): boolean {
  return (directoryMode & WRITABLE_BY_OTHERS) !== 0 && (newFileMode() & WRITABLE_BY_OTHERS) === 0;
}

/** Of one that was made for its owner alone. */
function modeOfNewFile(directory: string): number {
  const path = join(directory, `${nonce(8)}.aside`);
  const fd = openSync(path, "wx", 0o600);
  try {
    return fstatSync(fd).mode;
  } finally {
    closeSync(fd);
    unlinkSync(path);
  }
}

function writableByOthers(path: string, mode: number): UnusableLockFileError {
  const mend = (mode & STICKY) === 0 ? `, or take that right away (chmod go-w ${path})` : "";
  return new UnusableLockFileError(
    `others may write to ${path} (its rights are ${(mode & 0o7777).toString(8)}), and could take locks away: use a directory inside it, which is made for you alone (${join(path, "locks")})${mend}`,
  );
}
