import { randomBytes } from "node:crypto";
import { link, open, readdir, rename, stat, unlink } from "node:fs/promises";
import { join } from "node:path";
import { inWords, UnusableLockFileError } from "../file-lock-errors";
import { openToRead } from "./plain-file";
import { setAside } from "./set-aside";

/**
 * The few steps that an exclusive-create lock is made of. Each is atomic for every other process: a file is absent or
 * whole, never half-written. The model of the takeover runs the same code over an implementation of its own.
 */
export interface LockFiles {
  /** Null if there is none. */
  read(path: string): Promise<string | null>;
  /** False if there is a file already, which then stays as it is. */
  create(path: string, content: string): Promise<boolean>;
  /** Whether or not there was one. */
  replace(path: string, content: string): Promise<void>;
  /** Does nothing if there is none. */
  remove(path: string): Promise<void>;
  /** Keeps a copy of what a power failure has left of a file, and reports it. */
  setAside(path: string): Promise<void>;
}

/** Written aside under a name of its own, forced to disk, then linked or renamed into place. */
export class NodeLockFiles implements LockFiles {
  async read(path: string): Promise<string | null> {
    try {
      const file = await openToRead(path);
      try {
        return await file.readFile("utf8");
      } finally {
        await file.close();
      }
    } catch (error) {
      if (isMissing(error)) return null;
      throw inWords(error, `read ${path}`);
    }
  }

  async create(path: string, content: string): Promise<boolean> {
    const aside = await writeAside(path, content);
    try {
      await link(aside, path);
      return true;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EEXIST") return false;
      if (code !== undefined && HAS_NO_LINKS.has(code))
        throw new UnusableLockFileError(
          `cannot link ${aside} to ${path} (${code}): this filesystem has no hard links, without which a lock file cannot appear whole; use a directory on another one`,
          { cause: error },
        );
      throw inWords(error, `create ${path}`);
    } finally {
      await this.remove(aside);
    }
  }

  async replace(path: string, content: string): Promise<void> {
    const aside = await writeAside(path, content);
    try {
      await rename(aside, path);
    } catch (error) {
      await this.remove(aside);
      throw inWords(error, `replace ${path}`);
    }
  }

  async remove(path: string): Promise<void> {
    try {
      await unlink(path);
    } catch (error) {
      if (!isMissing(error)) throw inWords(error, `remove ${path}`);
    }
  }

  async setAside(path: string): Promise<void> {
    setAside(path);
  }
}

const HAS_NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Left over if the process dies before the next step: harmless, never read, and swept when it is old enough. */
const ASIDE_SUFFIX = ".aside";
const ASIDE_IS_LEFT_OVER_AFTER_MS = 3_600_000;

/** Should one of them belong to a process that was stopped for that long, its next step fails and is tried again. */
export async function sweepAside(directory: string, nowMs: number): Promise<void> {
  for (const name of await readdir(directory)) {
    if (!name.endsWith(ASIDE_SUFFIX)) continue;
    const path = join(directory, name);
    try {
      if (nowMs - (await stat(path)).mtimeMs > ASIDE_IS_LEFT_OVER_AFTER_MS) await unlink(path);
    } catch {
      // Gone already, or somebody else's.
    }
  }
}

async function writeAside(path: string, content: string): Promise<string> {
  const aside = `${path}.${randomBytes(8).toString("hex")}${ASIDE_SUFFIX}`;
  try {
    const file = await open(aside, "wx", 0o600);
    try {
      await file.writeFile(content);
      // Or a power failure could leave the name without its content, which nobody may overwrite.
      await file.sync();
    } finally {
      await file.close();
    }
  } catch (error) {
    throw inWords(error, `write to ${aside}`);
  }
  return aside;
}

export function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === "ENOENT";
}
